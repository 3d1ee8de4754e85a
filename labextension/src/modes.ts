/** Where the cells of a notebook run, as `%pxmode` names it: "here", "all", "view", or engines such as "0-3,6". */

const ENGINES = '\\d{1,9}(-\\d{1,9})?';
const MODE = new RegExp(`^(here|all|view|${ENGINES}(,${ENGINES})*)$`);
const KEY = 'polyxeus'; // of the notebook's metadata: {"mode": "all"}

/** The silent request that tells the mode of a kernel; "here" if polyxeus is not loaded. */
export const MODE_EXPRESSION = "getattr(getattr(get_ipython(), '_polyxeus_magics', None), 'mode', 'here')";

/** The mode of this text; null if it is none. Only a mode may become code: metadata of notebooks can hold anything. */
export function readMode(text: unknown): string | null {
  const bare = typeof text === 'string' ? text.replace(/\s+/g, '') : '';
  return MODE.test(bare) ? bare : null;
}

/** The code that sets the mode; polyxeus is loaded first, as ipykernel does not have it. */
export function codeFor(mode: string): string {
  return `%load_ext polyxeus\n%pxmode ${mode}`;
}

/** What of a notebook's metadata is used here. */
export interface IMetadata {
  getMetadata(key: string): unknown;
  setMetadata(key: string, value: unknown): void;
  deleteMetadata(key: string): void;
}

/** The mode that a notebook's metadata names; null if none. */
export function modeIn(metadata: IMetadata): string | null {
  const ours = metadata.getMetadata(KEY) as { mode?: unknown } | null | undefined;
  return readMode(ours?.mode);
}

/** Keeps the mode in a notebook's metadata. A notebook whose cells run here has no entry. */
export function keepMode(metadata: IMetadata, mode: string): void {
  if (mode === (modeIn(metadata) ?? 'here')) {
    return; // so that the notebook does not count as changed
  }
  if (mode === 'here') {
    metadata.deleteMetadata(KEY);
  } else {
    metadata.setMetadata(KEY, { mode });
  }
}
