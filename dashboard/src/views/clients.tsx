import { count, seconds } from '../format';
import type { Client } from '../snapshot';
import { BigTable, Note, type Column } from '../widgets';
import type { ViewProps } from './view';

const columns: Column<Client>[] = [
  { name: 'user', value: each => each.name ?? '', show: each => each.name },
  { name: 'session', value: each => each.session ?? '', show: each => <code>{each.session}</code> },
  { name: 'unfinished', isNumber: true, value: each => each.unfinished ?? 0, show: each => count(each.unfinished ?? 0) },
  { name: 'submitted', isNumber: true, value: each => each.submitted_total ?? 0,
    show: each => count(each.submitted_total ?? 0) },
  { name: 'failed', isNumber: true, value: each => each.failed_total ?? 0, show: each => count(each.failed_total ?? 0) },
  { name: 'last request', isNumber: true, value: each => each.last_seen ?? 0,
    show: each => `${seconds(each.last_seen ?? 0)} ago` }
];

export function Clients({ snapshot }: ViewProps) {
  return (
    <>
      {snapshot.clients.length === 0 && <Note>No client has sent a request in the last ten minutes.</Note>}
      <BigTable label="clients" columns={columns} rows={snapshot.clients} keyOf={each => each.session ?? ''} />
    </>
  );
}
