import { clock, ranges, seconds } from '../format';
import type { Cell, CellPart } from '../snapshot';
import { Note } from '../widgets';
import type { ViewProps } from './view';

interface Group {
  parts: CellPart[];
  text: string;
}

// Equal texts once, with their engines; the rarest first, as it is the odd one.
function grouped(parts: CellPart[], textOf: (part: CellPart) => string | undefined): Group[] {
  const groups = new Map<string, Group>();
  for (const part of parts) {
    const text = textOf(part);
    if (!text) continue;
    const group = groups.get(text) ?? { parts: [], text };
    group.parts.push(part);
    groups.set(text, group);
  }
  return [...groups.values()].sort((a, b) => a.parts.length - b.parts.length);
}

function Texts(props: { groups: Group[]; kind: string }) {
  return (
    <>
      {props.groups.map(group => (
        <div key={group.text} class={props.kind}>
          <span class="who">{ranges(group.parts.map(part => part.engine))}</span>
          <pre>{group.text}</pre>
        </div>
      ))}
    </>
  );
}

function stateOf(cell: Cell): string {
  if (cell.unfinished) return `runs on ${cell.unfinished} of ${cell.engines ?? cell.parts.length}`;
  if (cell.failed) return `failed on ${cell.failed} of ${cell.engines ?? cell.parts.length}`;
  return `done on ${cell.engines ?? cell.parts.length}`;
}

function One(props: { cell: Cell }) {
  const { cell } = props;
  const slowest = Math.max(0, ...cell.parts.map(part => part.seconds ?? 0));
  const waiting = cell.parts.filter(part => part.state === 'waits').map(part => part.engine);
  return (
    <article class={`cell ${cell.failed ? 'failed' : cell.unfinished ? 'running' : ''}`}>
      <header>
        <time>{clock(cell.submitted ?? 0)}</time>
        <span>{stateOf(cell)}</span>
        {slowest > 0 && <span>slowest {seconds(slowest)}</span>}
        {waiting.length > 0 && waiting.length < (cell.engines ?? 0) && <span>waits for {ranges(waiting)}</span>}
      </header>
      <pre class="source">{cell.source}</pre>
      <Texts kind="error" groups={grouped(cell.parts, part => part.error)} />
      <Texts kind="output" groups={grouped(cell.parts, part => part.output)} />
      {(cell.engines ?? 0) > cell.parts.length &&
        <Note>{cell.parts.length} of {cell.engines} engines are shown.</Note>}
    </article>
  );
}

export function Cells({ snapshot }: ViewProps) {
  const cells = [...snapshot.cells].reverse();
  return (
    <>
      {cells.length === 0 && <Note>No cell has run on engines yet.</Note>}
      {cells.map(cell => <One key={cell.id} cell={cell} />)}
    </>
  );
}
