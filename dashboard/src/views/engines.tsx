import { useMemo, useState } from 'preact/hooks';
import { colourOfKind, signOfKind, wordsOfKind } from '../colours';
import { bytes, count, percent, ranges, seconds } from '../format';
import { kindOf, kinds, waitOf, type Engine, type Kind } from '../snapshot';
import { BigTable, Note, type Column } from '../widgets';
import type { ViewProps } from './view';

const columns: Column<Engine>[] = [
  { name: 'engine', isNumber: true, value: each => each.id, show: each => each.id },
  { name: 'state', value: each => kindOf(each), show: each => <State engine={each} /> },
  { name: 'for', isNumber: true, value: each => each.state_seconds ?? 0,
    show: each => seconds(each.state_seconds ?? 0) },
  { name: 'runs', value: each => each.runs ?? '', show: each => whatItDoes(each) },
  { name: 'host', value: each => each.host ?? '', show: each => each.host },
  { name: 'rank', isNumber: true, value: each => each.rank, show: each => each.rank },
  { name: 'pid', isNumber: true, value: each => each.pid, show: each => each.pid },
  { name: 'memory', isNumber: true, value: each => each.process?.memory ?? 0,
    show: each => bytes(each.process?.memory) },
  { name: 'CPU', isNumber: true, title: 'cores in use', value: each => each.cpu_share ?? 0,
    show: each => percent(each.cpu_share ?? 0) },
  { name: 'GPU', isNumber: true, value: each => gpuShare(each) ?? -1,
    show: each => percent(gpuShare(each)) },
  { name: 'queue', isNumber: true, value: each => queueOf(each), show: each => queueOf(each) },
  { name: 'done', isNumber: true, value: each => each.finished_total ?? 0,
    show: each => count(each.finished_total ?? 0) },
  { name: 'failed', isNumber: true, value: each => each.failed_total ?? 0,
    show: each => count(each.failed_total ?? 0) },
  { name: 'last error', value: each => each.last_error ?? '', show: each => each.last_error }
];

function queueOf(engine: Engine): number {
  return Math.max(engine.queued ?? 0, (engine.tasks ?? 0) + (engine.direct ?? 0) - (engine.runs ? 1 : 0));
}

function gpuShare(engine: Engine): number | undefined {
  const all = engine.gpu_use ?? [];
  return all.length > 0 ? all.reduce((sum, gpu) => sum + (gpu.busy ?? 0), 0) / all.length : undefined;
}

function whatItDoes(engine: Engine): string {
  const wait = waitOf(engine);
  const call = wait ? `${wait.call}${wait.peer === undefined ? '' : ` from ${wait.peer}`} ` +
    `for ${seconds(wait.seconds ?? 0)}` : '';
  const place = call || (engine.holds_lock ? 'C code that holds Python\u2019s lock' : engine.line);
  return [engine.runs, place === engine.runs ? '' : place].filter(Boolean).join(' \u2192 ');
}

export function State(props: { engine: Engine }) {
  const kind = kindOf(props.engine);
  return (
    <span class="state">
      <span class={`sign ${kind}`} aria-hidden="true">{signOfKind[kind]}</span>
      {kind === 'waits' ? `waits in ${waitOf(props.engine)?.call}` : kind}{props.engine.is_drained && ', drained'}
    </span>
  );
}

function Tiles(props: { engines: Engine[]; chosen?: number; onChoose: (engine: Engine) => void }) {
  return (
    <div class="tiles" role="group" aria-label="engines">
      {props.engines.map(engine => {
        const kind = kindOf(engine);
        return (
          <button type="button" key={engine.id} aria-pressed={engine.id === props.chosen}
                  class={`tile ${kind} ${engine.id === props.chosen ? 'chosen' : ''} ${engine.is_drained ? 'drained' : ''}`}
                  title={`engine ${engine.id}: ${wordsOfKind[kind]} for ${seconds(engine.state_seconds ?? 0)}` +
                         `${engine.is_drained ? ', drained' : ''}` +
                         `\n${engine.host ?? ''}\n${whatItDoes(engine)}`}
                  onClick={() => props.onChoose(engine)}>
            <span aria-hidden="true">{signOfKind[kind]}</span>{engine.id}
          </button>
        );
      })}
    </div>
  );
}

const signals = ['INT', 'TERM', 'USR1', 'USR2', 'QUIT', 'STOP', 'CONT', 'KILL'];

function Actions(props: { engines: Engine[]; act: ViewProps['act'] }) {
  const [signal, setSignal] = useState('USR1');
  const { act } = props;
  const engines = props.engines.map(each => each.id);
  const drained = props.engines.filter(each => each.is_drained).length;
  const whom = engines.length === 1 ? `engine ${engines[0]}` : `engines ${ranges(engines)}`;
  const ask = (question: string, what: () => void) => window.confirm(question) && what();
  return (
    <div class="actions" role="group" aria-label={`actions for ${whom}`}>
      <button type="button" onClick={() => act('interrupt', engines)}>Interrupt {whom}</button>
      <select aria-label="signal" value={signal} onChange={event => setSignal(event.currentTarget.value)}>
        {signals.map(name => <option key={name}>{name}</option>)}
      </select>
      <button type="button" onClick={() =>
        ask(`Send SIG${signal} to ${whom}?`, () => act('signal', engines, { signal }))}>Send signal</button>
      {drained < engines.length &&
        <button type="button" title="The engines get no further balanced tasks, and finish those that they have begun"
                onClick={() => act('drain', engines)}>Drain</button>}
      {drained > 0 &&
        <button type="button" title="The engines get balanced tasks again" onClick={() => act('resume', engines)}>Resume tasks</button>}
      <button type="button" class="danger" onClick={() =>
        ask(`Restart ${whom}? All variables there are lost.`, () => act('restart', engines))}>Restart</button>
      <button type="button" class="danger" onClick={() =>
        ask(`End ${whom}? All variables there are lost.`, () => act('shutdown', engines))}>Shut down</button>
    </div>
  );
}

function Details(props: { engine: Engine; act: ViewProps['act'] }) {
  const { engine } = props;
  const wait = waitOf(engine);
  const facts: [string, string | number | undefined][] = [
    ['host', engine.host], ['rank', engine.rank], ['pid', engine.pid], ['language', engine.language],
    ['MPI', engine.mpi_library], ['GPUs', engine.gpus], ['runs', engine.runs], ['line', engine.line],
    ['for', engine.runs_for === undefined ? undefined : seconds(engine.runs_for)],
    ['waits in', wait && `${wait.call} (${wait.size ?? '?'} ranks) for ${seconds(wait.seconds ?? 0)}`],
    ['threads', engine.process?.threads], ['open files', engine.process?.descriptors],
    ['CPU time', engine.process?.cpu === undefined ? undefined : seconds(engine.process.cpu)],
    ['received', bytes(sum(engine.in))], ['sent', bytes(sum(engine.out))],
    ['joined', `${seconds(engine.age ?? 0)} ago`],
    ['measured', engine.measured_ago === undefined ? 'never' : `${seconds(engine.measured_ago)} ago`],
    ['last error', engine.last_error]
  ];
  return (
    <section class="details" aria-label={`engine ${engine.id}`}>
      <h2>Engine {engine.id} <State engine={engine} /></h2>
      <dl>{facts.filter(([, value]) => value !== undefined && value !== '').map(([name, value]) => (
        <div key={name}><dt>{name}</dt><dd>{value}</dd></div>
      ))}</dl>
      <Actions engines={[engine]} act={props.act} />
    </section>
  );
}

function sum(moved: { socket?: number; memory?: number; mpi?: number } | undefined): number | undefined {
  return moved && (moved.socket ?? 0) + (moved.memory ?? 0) + (moved.mpi ?? 0);
}

function matches(engine: Engine, words: string[]): boolean {
  const text = [engine.id, engine.host, engine.rank, engine.pid, kindOf(engine), engine.is_drained && 'drained', engine.runs,
                engine.mpi?.call, engine.torch?.call, engine.last_error].join(' ').toLowerCase();
  return words.every(word => text.includes(word));
}

export function Engines({ snapshot, act }: ViewProps) {
  const [chosen, setChosen] = useState<number>();
  const [filter, setFilter] = useState('');
  const [hidden, setHidden] = useState<Kind[]>([]);
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = snapshot.engines.filter(each => !hidden.includes(kindOf(each)) && matches(each, words));
  const counts = useMemo(() => {
    const sums: Partial<Record<Kind, number>> = {};
    for (const each of snapshot.engines) sums[kindOf(each)] = (sums[kindOf(each)] ?? 0) + 1;
    return sums;
  }, [snapshot]);
  const engine = snapshot.engines.find(each => each.id === chosen);
  const choose = (each: Engine) => setChosen(each.id);
  const hide = (kind: Kind) =>
    setHidden(hidden.includes(kind) ? hidden.filter(each => each !== kind) : [...hidden, kind]);
  return (
    <>
      <div class="tools">
        <input type="search" placeholder="Filter: host, state, error ..." aria-label="Filter engines"
               value={filter} onInput={event => setFilter(event.currentTarget.value)} />
        {kinds.filter(kind => counts[kind]).map(kind => (
          <button type="button" key={kind} class="legend" aria-pressed={!hidden.includes(kind)}
                  onClick={() => hide(kind)}>
            <span class={`sign ${kind}`} style={{ background: colourOfKind[kind] }}>{signOfKind[kind]}</span>
            {counts[kind]} {wordsOfKind[kind]}
          </button>
        ))}
        {shown.length > 0 && shown.length < snapshot.engines.length &&
          <Actions engines={shown} act={act} />}
      </div>
      {snapshot.engines.length === 0 && <Note>No engine has registered yet.</Note>}
      {snapshot.engine_count > snapshot.engines.length &&
        <Note>Only the first {count(snapshot.engines.length)} of {count(snapshot.engine_count)} engines.</Note>}
      <Tiles engines={shown} chosen={chosen} onChoose={choose} />
      {engine && <Details engine={engine} act={act} />}
      <BigTable label="engines" columns={columns} rows={shown} keyOf={each => each.id} chosen={chosen}
                onChoose={choose} />
    </>
  );
}
