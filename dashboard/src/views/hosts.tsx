import { palette } from '../colours';
import { bytes, count } from '../format';
import type { Host } from '../snapshot';
import { BigTable, Chart, Meter, Note, type Column } from '../widgets';
import type { ViewProps } from './view';

const mostLines = 7; // a colour each

const columns: Column<Host>[] = [
  { name: 'host', value: each => each.name ?? '', show: each => each.name },
  { name: 'engines', isNumber: true, value: each => each.engines ?? 0, show: each => count(each.engines ?? 0) },
  { name: 'busy', isNumber: true, value: each => each.busy ?? 0, show: each => count(each.busy ?? 0) },
  { name: 'memory of engines', value: each => each.engine_memory ?? 0, show: each => (
    <Meter value={each.engine_memory ?? 0} most={each.memory ?? 0} text={bytes(each.engine_memory ?? 0)} />) },
  { name: 'memory in use', value: each => usedMemory(each), show: each => (
    each.memory ? <Meter value={usedMemory(each)} most={each.memory}
                         text={`${bytes(usedMemory(each))} of ${bytes(each.memory)}`} /> : '') },
  { name: 'cores of engines', value: each => each.engine_cpu ?? 0, show: each => (
    <Meter value={each.engine_cpu ?? 0} most={each.cores ?? 0}
           text={`${(each.engine_cpu ?? 0).toFixed(1)}${each.cores ? ` of ${each.cores}` : ''}`} />) },
  { name: 'load', isNumber: true, value: each => each.load ?? 0, show: each => each.load?.toFixed(1) }
];

function usedMemory(host: Host): number {
  return (host.memory ?? 0) - (host.free_memory ?? host.memory ?? 0);
}

export function Hosts({ snapshot, history, theme }: ViewProps) {
  const top = [...snapshot.hosts]
    .sort((a, b) => (b.engine_memory ?? 0) - (a.engine_memory ?? 0))
    .slice(0, mostLines)
    .map(host => host.name ?? '')
    .sort();
  const { times } = history.work;
  const lines = (name: string) => top.map((host, i) => {
    const series = history.hosts.get(host);
    const missing = times.length - (series?.times.length ?? 0);
    return { label: host, colour: palette[i], dash: i % 2 === 1 ? [6, 4] : undefined,
             values: [...new Array(Math.max(0, missing)).fill(null), ...(series?.of(name) ?? [])].slice(-times.length) };
  });
  return (
    <>
      <BigTable label="hosts" columns={columns} rows={snapshot.hosts} keyOf={each => each.name ?? ''} />
      {snapshot.hosts.length > mostLines && <Note>The {mostLines} hosts whose engines use most memory:</Note>}
      <Chart title="Memory of engines" times={times} theme={theme} show={bytes} lines={lines('memory')} />
      <Chart title="Cores that engines use" times={times} theme={theme} show={value => value.toFixed(1)}
             lines={lines('cpu')} />
    </>
  );
}
