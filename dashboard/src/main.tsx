import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import 'uplot/dist/uPlot.min.css';
import './page.css';
import { ask, keepToken, takeToken, watch, type State } from './connection';
import { count, seconds } from './format';
import { History } from './history';
import type { Snapshot } from './snapshot';
import { Cells } from './views/cells';
import { Clients } from './views/clients';
import { Engines } from './views/engines';
import { Events } from './views/events';
import { Hosts } from './views/hosts';
import { Stacks } from './views/stacks';
import { Tasks } from './views/tasks';
import type { ViewProps } from './views/view';
import { Waits } from './views/waits';
import { Work } from './views/work';

const views: { name: string; View: (props: ViewProps) => any }[] = [
  { name: 'Engines', View: Engines },
  { name: 'Tasks', View: Tasks },
  { name: 'Queue', View: Work },
  { name: 'Waits', View: Waits },
  { name: 'Hosts', View: Hosts },
  { name: 'Cells', View: Cells },
  { name: 'Clients', View: Clients },
  { name: 'Events', View: Events },
  { name: 'Stacks', View: Stacks }
];

const themes = ['auto', 'light', 'dark'];

function useTheme(): [string, () => void] {
  const [theme, setTheme] = useState(() => localStorage.getItem('polyxeus-theme') ?? 'auto');
  const [isDark, setIsDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const asked = matchMedia('(prefers-color-scheme: dark)');
    const changed = () => setIsDark(asked.matches);
    asked.addEventListener('change', changed);
    return () => asked.removeEventListener('change', changed);
  }, []);
  document.documentElement.dataset.theme = theme === 'auto' ? (isDark ? 'dark' : 'light') : theme;
  const next = () => {
    const chosen = themes[(themes.indexOf(theme) + 1) % themes.length];
    localStorage.setItem('polyxeus-theme', chosen);
    setTheme(chosen);
  };
  return [theme, next];
}

function TokenForm(props: { why: string; onToken: (token: string) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <form class="token" onSubmit={event => {
      event.preventDefault();
      const text = input.current!.value.trim();
      props.onToken(text.slice(text.lastIndexOf('=') + 1));
    }}>
      <p>{props.why || 'The page needs the token of the cluster.'}</p>
      <p><code>pxcluster dashboard</code> prints the address with the token.</p>
      <label>Token or address <input ref={input} type="password" autocomplete="off" autofocus /></label>
      <button type="submit">Open</button>
    </form>
  );
}

const words: Record<State, string> = { connecting: 'connects', live: 'live', lost: 'lost', refused: 'refused' };

function App() {
  const [token, setToken] = useState(takeToken);
  const [state, setState] = useState<State>('connecting');
  const [why, setWhy] = useState('');
  const [snapshot, setSnapshot] = useState<Snapshot>();
  const [message, setMessage] = useState('');
  const [view, setView] = useState(() => Math.max(0, views.findIndex(each => each.name === lastView.view())));
  const [theme, nextTheme] = useTheme();
  const history = useRef(new History());
  const tabs = useRef<HTMLDivElement>(null);

  useEffect(() => {
    const ended = new AbortController();
    watch(token, {
      onState: (next, because) => { setState(next); setWhy(because); },
      onSnapshot: next => { history.current.add(next); setSnapshot(next); }
    }, ended.signal);
    return () => ended.abort();
  }, [token]);
  const show = (index: number) => {
    setView(index);
    lastView.keep(views[index].name);
  };
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if ((event.target as Element).closest('input, select, textarea')) return;
      const index = Number(event.key) - 1;
      if (views[index]) show(index);
      if (event.key === '/') {
        event.preventDefault();
        document.querySelector<HTMLInputElement>('input[type=search]')?.focus();
      }
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, []);
  const order: ViewProps['act'] = async (name, engines, more) => {
    setMessage(`${name} ...`);
    const { why } = await ask(token, name, { engines, ...more });
    setMessage(why || `${name}: ${name === 'restart' ? 'done' : 'sent'}`);
    setTimeout(() => setMessage(''), why ? 20000 : 5000);
  };
  const turn = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const index = (view + step + views.length) % views.length;
    show(index);
    tabs.current?.querySelectorAll<HTMLElement>('[role=tab]')[index].focus();
  };
  if (state === 'refused') {
    return <TokenForm why={why} onToken={given => { keepToken(given); setState('connecting'); setToken(given); }} />;
  }
  const { View } = views[view];
  return (
    <>
      <header class="top">
        <h1>polyxeus</h1>
        {snapshot && <span>{snapshot.controller.host}</span>}
        {snapshot && <span>{count(snapshot.engine_count)} engines</span>}
        {snapshot && <span class="wide">{count(snapshot.work.queued)} waiting, {count(snapshot.work.finished_rate)}/s</span>}
        {snapshot && <span class="wide">up {seconds(snapshot.time - snapshot.controller.started)}</span>}
        <span class={`live ${state}`} role="status" title={why}>{words[state]}</span>
        <button type="button" onClick={nextTheme} aria-label={`colours: ${theme}`}>{'\u25d0'} {theme}</button>
      </header>
      <div class="tabs" role="tablist" aria-label="views" ref={tabs} onKeyDown={turn}>
        {views.map(({ name }, i) => (
          <button type="button" role="tab" key={name} id={`tab-${name}`} aria-selected={i === view}
                  aria-controls="view" tabIndex={i === view ? 0 : -1} onClick={() => show(i)}>{name}</button>
        ))}
      </div>
      {state === 'lost' && <p class="warning" role="alert">{why}; the data shown here is old. Trying again to connect.</p>}
      {message && <p class="message" role="alert">{message}</p>}
      <main id="view" role="tabpanel" data-snapshot={snapshot?.number} aria-labelledby={`tab-${views[view].name}`}>
        {snapshot ? <View snapshot={snapshot} history={history.current} theme={document.documentElement.dataset.theme!}
                          act={order} ask={(name, body) => ask(token, name, body)} /> : <p class="note">Waiting for the first data of the controller.</p>}
      </main>
    </>
  );
}

// The view that was shown last in this tab.
const lastView = {
  view: () => sessionStorage.getItem('polyxeus-view'),
  keep: (name: string) => sessionStorage.setItem('polyxeus-view', name)
};

render(<App />, document.body);
