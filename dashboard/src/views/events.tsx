import { clock } from '../format';
import type { ClusterEvent } from '../snapshot';
import { BigTable, Note, type Column } from '../widgets';
import type { ViewProps } from './view';

const columns: Column<ClusterEvent>[] = [
  { name: 'time', value: each => -each.number, show: each => <time>{clock(each.time)}</time> },
  { name: 'kind', value: each => each.kind, show: each => each.kind },
  { name: 'engine', isNumber: true, value: each => each.engine, show: each => each.engine },
  { name: 'host', value: each => each.host ?? '', show: each => each.host },
  { name: 'what', value: each => each.text, show: each => each.text }
];

export function Events({ snapshot }: ViewProps) {
  return (
    <>
      {snapshot.events.length === 0 && <Note>There are no events yet.</Note>}
      <BigTable label="events" columns={columns} rows={snapshot.events} keyOf={each => each.number} />
    </>
  );
}
