import type {Snapshot} from './snapshot';

// The token comes behind the # of the address, which browsers send to no server. It stays in this
// tab; the address loses it, so that nobody reads or copies it from there.
const keyOfToken = 'polyxeus-token';

export function takeToken(): string {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given) {
    sessionStorage.setItem(keyOfToken, given);
    history.replaceState(null, '', location.pathname + location.search);
  }
  return sessionStorage.getItem(keyOfToken) ?? '';
}

export function keepToken(token: string): void { sessionStorage.setItem(keyOfToken, token); }

// Below a Jupyter server, which knows the token, what is asked needs the sign against forged
// requests that Jupyter keeps in a cookie.
const isInJupyter = /\/polyxeus\/clusters\/[0-9a-f]+\/dashboard\/$/.test(location.pathname);

function headers(token: string): Record<string, string> {
  if (isInJupyter) return {'X-XSRFToken': /(?:^|; )_xsrf=([^;]*)/.exec(document.cookie)?.[1] ?? ''};
  return token ? {'X-Polyxeus-Token': token} : {};
}

export type State = 'connecting'|'live'|'lost'|'refused';

export interface Listener {
  onState(state: State, why: string): void;
  onSnapshot(snapshot: Snapshot): void;
}

const pause = (milliseconds: number) => new Promise(resolve => setTimeout(resolve, milliseconds));

async function readStream(token: string, listener: Listener, ended: AbortSignal): Promise<State> {
  const response = await fetch('stream', {
    headers: {...headers(token), Accept: 'text/event-stream'},
    cache: 'no-store',
    signal: ended
  });
  if (!response.ok || !response.body) {
    const why = (await response.text()).trim();
    listener.onState(response.status === 401 ? 'refused' : 'lost', why);
    return response.status === 401 ? 'refused' : 'lost';
  }
  listener.onState('live', '');
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const {done, value} = await reader.read();
    if (done) return 'lost';
    text += decoder.decode(value, {stream: true});
    const end = text.lastIndexOf('\n\n');
    if (end < 0) continue;
    for (const event of text.slice(0, end).split('\n\n')) {
      if (event.startsWith('data: ')) listener.onSnapshot(JSON.parse(event.slice(6)));
    }
    text = text.slice(end + 2);
  }
}

// Watches until `ended`, and connects again when the connection breaks.
export async function watch(token: string, listener: Listener, ended: AbortSignal): Promise<void> {
  for (let wait = 500; !ended.aborted; wait = Math.min(2 * wait, 8000)) {
    const started = Date.now();
    try {
      if ((await readStream(token, listener, ended)) === 'refused') return;
      listener.onState('lost', 'the controller has ended the connection');
    } catch (error) {
      if (ended.aborted) return;
      listener.onState('lost', 'the controller cannot be reached');
    }
    if (Date.now() - started > 5000) wait = 500;
    await pause(wait);
  }
}

export interface Answer {
  why: string;  // Why it was not done; empty: it was.
  answer: any;
}

// Asks the controller to do something.
export async function ask(token: string, name: string, body: object): Promise<Answer> {
  try {
    const response = await fetch(`do/${name}`, {
      method: 'POST',
      headers: {...headers(token), 'Content-Type': 'application/json'},
      body: JSON.stringify(body)
    });
    const answer = await response.json().catch(() => ({}));
    const why = answer.why ?? answer.message ?? `the controller answered ${response.status}`;
    return {answer, why: response.ok ? '' : String(why)};
  } catch {
    return {answer: {}, why: 'the controller cannot be reached'};
  }
}
