import type {Answer} from '../connection';
import type {History} from '../history';
import type {Snapshot} from '../snapshot';

// What each view gets. `act` asks the controller to do something to engines, and says to the user
// how that went; `ask` gives the answer.
export interface ViewProps {
  snapshot: Snapshot;
  history: History;
  theme: string;
  act: (name: string, engines: number[]|'all', more?: object) => void;
  ask: (name: string, body: object) => Promise<Answer>;
}
