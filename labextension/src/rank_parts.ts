/**
 * Finds which ranks an output of a cell belongs to, by the labels and the metadata that the parallel magics write (docs/magics.md#output).
 * Saved notebooks have them, too. Uses no page.
 */

const MOST_RANKS = 65536; // a label that names more is not ours
const MOST_KNOWN = 1000; // labels of which the ranks are kept
const RANKS = '(\\d[\\d,-]*)';
const LINE_LABEL = new RegExp(`^\\[(stdout:|stderr:)?${RANKS}\\](?= |$)(.*)\\n?`, 'gm');
const DISPLAY_LABEL = new RegExp(`^(?:\\[output:${RANKS}\\]|Out\\[${RANKS}(?::\\d+)?\\]:)$`);
const LEFT_OUT = /^ \d+ more lines? (is|are) not shown/;
const FAILURE = /^ [A-Za-z_][\w.:]*(:|$| \()/; // "ZeroDivisionError: division by zero"
const COLOURS = /\x1b\[[0-9;]*m/g;

/** What is used of an output in the form of the notebook's file. */
export interface IOutputContent {
  readonly output_type: string;
  readonly name?: string; // of a stream
  readonly text?: string | string[];
  readonly data?: Record<string, unknown>;
  readonly metadata?: Record<string, unknown>;
}

/** A piece of text. ranks  null: all ranks, e.g. a message of the kernel */
export interface IPart {
  ranks: readonly number[] | null;
  text: string;
}

const known = new Map<string, readonly number[] | null>();

/** The ranks that a label names, such as "0-3,7"; null if the text is not in the form of a label. */
export function readRanks(text: string): readonly number[] | null {
  let ranks = known.get(text);
  if (ranks === undefined) {
    ranks = parsed(text);
    if (known.size >= MOST_KNOWN) {
      known.clear();
    }
    known.set(text, ranks);
  }
  return ranks;
}

function parsed(text: string): number[] | null {
  const ranks: number[] = [];
  for (const part of text.split(',')) {
    const found = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part);
    const first = Number(found?.[1]);
    const last = Number(found?.[2] ?? first);
    const isAscending = ranks.length === 0 || first > ranks[ranks.length - 1];
    if (!found || !isAscending || last < first || last - first + ranks.length >= MOST_RANKS) {
      return null;
    }
    for (let rank = first; rank <= last; rank++) {
      ranks.push(rank);
    }
  }
  return ranks;
}

/** Cuts the text of a stream at its labels. A line that looks like a label counts as one. */
export function partsOf(text: string, isError: boolean): IPart[] {
  const parts: IPart[] = [];
  const add = (ranks: readonly number[] | null, end: number): void => {
    if (end > begin) {
      parts.push({ ranks, text: text.slice(begin, end) });
    }
    begin = Math.max(begin, end);
  };
  let begin = 0;
  let ranks: readonly number[] | null = null; // of the lines that follow
  for (const label of text.matchAll(LINE_LABEL)) {
    const named = readRanks(label[2]);
    const isFailure = isError && !label[1] && FAILURE.test(label[3]);
    if (!named || !isLabel(label, named, isError, isFailure)) {
      continue;
    }
    add(ranks, label.index);
    ranks = named;
    if (label[3].trim() && !isFailure) { // a label before a single line
      add(named, label.index + label[0].length);
      ranks = null;
    }
  }
  add(ranks, text.length);
  return parts;
}

function isLabel(label: RegExpMatchArray, ranks: readonly number[], isError: boolean, isFailure: boolean): boolean {
  if (label[1]) {
    return isError === (label[1] === 'stderr:');
  }
  return isError ? isFailure : label[3].startsWith(' ') && (ranks.length > 1 || LEFT_OUT.test(label[3]));
}

/** The ranks of the label of a figure or a value, "[output:0-3]" or "Out[0:1]:"; null if the text is no such label. */
export function ranksOfLabel(text: string): readonly number[] | null {
  const found = DISPLAY_LABEL.exec(text.replace(COLOURS, '').trim());
  return found && readRanks(found[1] ?? found[2]);
}

/** The ranks of a display; null: all ranks. */
export function ranksOf(output: IOutputContent): readonly number[] | null {
  const { engine, engines } = (output.metadata ?? {}) as { engine?: unknown; engines?: unknown };
  if (Number.isInteger(engine)) {
    return [engine as number];
  }
  if (Array.isArray(engines) && engines.length && engines.every(Number.isInteger)) {
    return engines;
  }
  const data = output.data ?? {};
  return Object.keys(data).join() === 'text/plain' ? ranksOfLabel(joined(data['text/plain'])) : null;
}

/** Whether a display has figures of several ranks side by side (magics/figure_grid.cpp). */
export function isGrid(output: IOutputContent): boolean {
  return Array.isArray(output.metadata?.engines) &&
    joined(output.data?.['text/html']).startsWith("<div style='display:flex;flex-wrap:wrap");
}

/** A text that may be a list of lines. */
export function joined(text: unknown): string {
  return Array.isArray(text) ? text.join('') : String(text ?? '');
}
