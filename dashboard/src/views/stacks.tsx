import { useState } from 'preact/hooks';
import { clock, idsIn, ranges, seconds } from '../format';
import { isOfCell, mergeStacks, textOfFrame, type Call, type EngineStacks, type Group } from '../stacks';
import { Note } from '../widgets';
import type { ViewProps } from './view';

const mostAsked = 256; // the controller asks no more at a time
const mostFrames = 40; // are shown of a stack

interface Look {
  time: number;
  engines: EngineStacks[];
}

// What was seen last; it stays while other tabs are shown.
let lastLook: Look | undefined;
let lastWish = '';

function textOfCall(call: Call): string {
  return `in ${call.call}${call.peer === undefined || call.peer === null ? '' : ` from ${call.peer}`}`;
}

// What an engine does and for how long.
function activityOf({ place, running }: EngineStacks): [string, number] {
  const call = place?.mpi ?? (place?.torch?.is_inside ? place.torch : undefined);
  if (call) return [textOfCall(call), call.seconds ?? 0];
  const what = place?.holds_lock ? 'in C code that holds Python\u2019s lock' : 'busy';
  return [`${what}${running?.what ? ` (${running.what})` : ''}`, running?.seconds ?? 0];
}

function sentenceOf(group: Group): string {
  if (group.state === 'no answer') return 'have not answered within 6 s';
  if (group.state !== 'busy') return group.why || group.state;
  const activities = group.engines.map(activityOf);
  const texts = [...new Set(activities.map(([text]) => text))];
  const longest = Math.max(...activities.map(([, time]) => time));
  return `${texts.slice(0, 3).join(', or ')}${texts.length > 3 ? ' ...' : ''} for ` +
    `${group.engines.length > 1 ? 'up to ' : ''}${seconds(longest)}`;
}

function Frames({ group }: { group: Group }) {
  const cell = [...group.frames].reverse().find(isOfCell)?.file;
  const hidden = Math.max(0, group.frames.length - mostFrames);
  const half = mostFrames / 2;
  const shown = hidden ? [...group.frames.slice(0, half), ...group.frames.slice(half + hidden)] : group.frames;
  return (
    <ol class="frames">
      {group.goesOn && <li class="note">... (in different functions)</li>}
      {shown.map((frame, i) => {
        const [name, place] = textOfFrame(frame, cell);
        return (
          <>
            {hidden > 0 && i === half && <li class="note">... ({hidden} more calls)</li>}
            <li><code>{name}</code> <span>{place}</span></li>
          </>
        );
      })}
    </ol>
  );
}

function One({ group, what }: { group: Group; what: string }) {
  return (
    <article class={`stack ${group.state.replace(' ', '-')}`}>
      <header><b>{ranges(group.engines.map(each => each.engine))}</b> <span>{what}</span></header>
      {group.why && group.state === 'busy' && <Note>no stack: {group.why}</Note>}
      <Frames group={group} />
    </article>
  );
}

function ofThreads(group: Group, what: string): string {
  return `${group.threads} ${group.threads === 1 ? 'thread' : 'threads'} ${what}`;
}

export function Stacks({ snapshot, ask }: ViewProps) {
  const [wish, setWish] = useState(lastWish);
  const [look, setLook] = useState(lastLook);
  const [why, setWhy] = useState('');
  const [isAsking, setIsAsking] = useState(false);
  const [hasLibraries, setHasLibraries] = useState(false);
  const ids = idsIn(wish, snapshot.engines.map(each => each.id));
  const take = async () => {
    setIsAsking(true);
    lastWish = wish;
    const { why, answer } = await ask('stacks', { engines: ids.slice(0, mostAsked) });
    setIsAsking(false);
    setWhy(why);
    if (why) return;
    lastLook = { time: Date.now() / 1000, engines: answer.engines ?? [] };
    setLook(lastLook);
  };
  const merged = look && mergeStacks(look.engines);
  return (
    <>
      <form class="tools" onSubmit={event => { event.preventDefault(); take(); }}>
        <input type="search" aria-label="Engines" placeholder="Engines: 0-7, 12 (empty: all)" value={wish}
               onInput={event => setWish(event.currentTarget.value)} />
        <button type="submit" disabled={isAsking || ids.length === 0}>
          {isAsking ? 'Asking ...' : `Take the stacks of ${Math.min(ids.length, mostAsked)} engines`}
        </button>
        <label><input type="checkbox" checked={hasLibraries}
                      onChange={event => setHasLibraries(event.currentTarget.checked)} /> show threads of libraries</label>
        {look && <span class="note">taken at {clock(look.time)}</span>}
      </form>
      {ids.length > mostAsked && <Note>Only the first {mostAsked} engines are asked. To ask other engines, enter their ids.</Note>}
      {why && <Note>{why}</Note>}
      {!look && <Note>Shows the call stack of each engine, even of an engine that hangs. Engines are asked when you press the button.</Note>}
      {merged?.main.map((group, i) => <One key={i} group={group} what={sentenceOf(group)} />)}
      {merged?.others.map((group, i) => <One key={`o${i}`} group={group} what={ofThreads(group, 'besides the main thread')} />)}
      {hasLibraries &&
        merged?.libraries.map((group, i) => <One key={`l${i}`} group={group} what={ofThreads(group, 'of libraries')} />)}
    </>
  );
}
