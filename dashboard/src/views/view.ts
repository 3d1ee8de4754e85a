import type {History} from '../history';
import type {Snapshot} from '../snapshot';

// What each view gets. `act` asks the controller to do something to engines.
export interface ViewProps {
  snapshot: Snapshot;
  history: History;
  theme: string;
  act: (name: string, engines: number[]|'all', more?: object) => void;
}
