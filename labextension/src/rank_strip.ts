import { Clusters } from './clusters';

const MOST_LARGE = 16; // ranks with a box each; more ranks have squares, with their groups below

/** What a rank does, in the form that python/polyxeus/magics/rank_boxes.py makes. */
export interface IBox {
  id: number;
  state: 'busy' | 'waits' | 'done' | 'failed' | 'silent' | 'lost';
  host?: string;
  line?: string;
  call?: string;
  seconds?: number;
  memory?: number;
  cpu?: number;
  gpu?: string;
  error?: string;
}

export interface IGroup {
  ranks: string;
  state: string;
  text: string;
}

export interface IRanks {
  cell: string | null;
  cluster: string | null; // its key; null: the kernel does not know it
  ended?: boolean;
  boxes: IBox[];
  groups: IGroup[];
  more: number;
}

// Each state has a symbol, so that colours are not needed to tell them apart.
const SYMBOLS = { busy: '▶', waits: '…', done: '✓', failed: '✕', silent: '!', lost: '–' };
const WORDS = {
  busy: 'runs',
  waits: 'waits in a call',
  done: 'done',
  failed: 'failed',
  silent: 'does not answer',
  lost: 'not registered any more'
};

function element(kind: string, className: string, parent?: HTMLElement): HTMLElement {
  const made = document.createElement(kind);
  made.className = className;
  parent?.append(made);
  return made;
}

/** Changes a text only if it differs, so that nothing flickers. */
function setText(node: HTMLElement, text: string): void {
  if (node.textContent !== text) {
    node.textContent = text;
  }
}

function secondsText(seconds: number): string {
  const whole = Math.round(seconds);
  return whole < 120 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

function bytesText(bytes: number): string {
  return bytes < 1e9 ? `${Math.round(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

/** "in MPI_Barrier for 4 s", "ValueError: no", "runs for 5 s". */
function doing(box: IBox): string {
  if (box.error) {
    return box.error;
  }
  const during = box.seconds === undefined ? '' : ` for ${secondsText(box.seconds)}`;
  return (box.call ? `in ${box.call}` : WORDS[box.state]) + during;
}

function usage(box: IBox): string {
  const cpu = box.cpu === undefined ? '' : `${Math.round(100 * box.cpu)} % CPU`;
  return [box.memory === undefined ? '' : bytesText(box.memory), cpu, box.gpu].filter(Boolean).join(', ');
}

/** One rank: a button, whose texts are replaced in place. */
class Box {
  readonly node = document.createElement('button');
  private readonly name = element('span', 'px-Rank-name', this.node);
  private readonly doing = element('span', 'px-Rank-doing', this.node);
  private readonly line = element('code', 'px-Rank-line', this.node);
  private readonly usage = element('span', 'px-Rank-usage', this.node);
  box!: IBox;

  constructor(onClick: (box: IBox) => void) {
    this.node.className = 'px-Rank';
    this.node.type = 'button';
    this.node.addEventListener('click', () => onClick(this.box));
  }

  show(box: IBox, isLarge: boolean): void {
    this.box = box;
    if (this.node.dataset.state !== box.state) {
      this.node.dataset.state = box.state;
    }
    setText(this.name, isLarge ? `${SYMBOLS[box.state]} ${box.id}` : SYMBOLS[box.state]);
    setText(this.doing, isLarge ? doing(box) : '');
    setText(this.line, isLarge ? box.line ?? '' : '');
    setText(this.usage, isLarge ? usage(box) : '');
    const title = [`rank ${box.id}: ${doing(box)}`, box.line, usage(box), box.host].filter(Boolean).join('\n');
    if (this.node.title !== title) {
      this.node.title = title;
      this.node.setAttribute('aria-label', title.replace(/\n/g, ', '));
    }
  }
}

/** The boxes of one running cell, and the buttons for the rank whose box was clicked. */
export class RankStrip {
  readonly node = element('div', 'px-Ranks');
  private readonly list = element('div', 'px-Ranks-boxes', this.node);
  private readonly groups = element('div', 'px-Ranks-groups', this.node);
  private readonly chosen = element('div', 'px-Ranks-chosen', this.node);
  private readonly buttons = element('span', 'px-Ranks-buttons', this.chosen); // first: the text changes its length
  private readonly about = element('span', 'px-Ranks-about', this.chosen);
  private readonly text = element('pre', 'px-Ranks-text', this.node);
  private readonly boxes = new Map<number, Box>();
  private cluster: string | null = null;
  private selected: number | null = null;
  private isKept = true; // the text, when the cell has ended
  private asked = 0; // so that only the answer to the latest click is shown

  /** openConsole  opens a console on a rank of the cluster with this key */
  constructor(
    private readonly clusters: Clusters,
    private readonly openConsole: (key: string, id: number) => Promise<void>
  ) {
    this.list.setAttribute('role', 'group');
    this.list.setAttribute('aria-label', 'What the ranks do');
    this.addButton('Interrupt', 'raise KeyboardInterrupt in the code of this rank', (key, id) =>
      this.clusters.interrupt(key, id).then(() => `Rank ${id} gets the interrupt.`)
    );
    this.addButton('Stack', 'show its call stack', (key, id) => this.clusters.read(key, id, 'stack'));
    this.addButton('Log', 'show the end of its log', (key, id) => this.clusters.read(key, id, 'log'));
    this.addButton('Console', 'open a console whose cells run on this rank', (key, id) =>
      this.openConsole(key, id).then(() => this.aboutConsole(id))
    );
    const close = this.button('Close', 'close this', () => this.select(null));
    close.classList.add('px-close');
    this.select(null);
  }

  show(ranks: IRanks): void {
    this.cluster = ranks.cluster;
    const isLarge = ranks.boxes.length <= MOST_LARGE;
    this.node.classList.toggle('px-small', !isLarge);
    const known = new Set(ranks.boxes.map(each => each.id));
    for (const [id, box] of this.boxes) {
      if (!known.has(id)) {
        box.node.remove();
        this.boxes.delete(id);
      }
    }
    ranks.boxes.forEach((each, place) => {
      let box = this.boxes.get(each.id);
      if (!box) {
        box = new Box(clicked => this.select(clicked.id));
        this.boxes.set(each.id, box);
        this.list.insertBefore(box.node, this.list.children[place] ?? null);
      }
      box.show(each, isLarge);
    });
    this.showGroups(isLarge ? [] : ranks.groups, isLarge ? 0 : ranks.more);
    this.describe();
  }

  /** Removes the boxes, because the cell has ended. A stack or a log that is shown stays until it is closed. */
  end(): void {
    if (!this.text.textContent || !this.isKept) {
      this.node.remove();
      return;
    }
    this.list.remove();
    this.groups.remove();
    this.node.classList.add('px-ended');
  }

  private showGroups(groups: IGroup[], more: number): void {
    const lines = groups.map(each => [each.state, each.ranks, each.text]);
    if (more) {
      lines.push(['', '', `and ${more} more`]);
    }
    while (this.groups.children.length > lines.length) {
      this.groups.lastElementChild?.remove();
    }
    lines.forEach(([state, ranks, text], place) => {
      let line = this.groups.children[place] as HTMLElement | undefined;
      if (!line) {
        line = element('div', 'px-Ranks-group', this.groups);
        element('b', '', line);
        element('span', '', line);
      }
      line.dataset.state = state;
      setText(line.children[0] as HTMLElement, ranks);
      setText(line.children[1] as HTMLElement, text);
    });
    if (lines.length) {
      // It never becomes smaller while the cell runs: the cells below would jump up and down.
      const height = Math.max(this.groups.offsetHeight, parseInt(this.groups.style.minHeight || '0', 10));
      this.groups.style.minHeight = `${height}px`;
    }
  }

  private select(id: number | null): void {
    this.selected = id;
    this.asked++;
    this.setShown('');
    this.boxes.forEach((box, each) => box.node.setAttribute('aria-pressed', String(each === id)));
    this.describe();
    if (this.node.classList.contains('px-ended')) {
      this.node.remove();
    }
  }

  private describe(): void {
    const box = this.selected === null ? undefined : this.boxes.get(this.selected)?.box;
    this.chosen.hidden = !box;
    if (box) {
      const where = box.host ? ` on ${box.host}` : '';
      setText(this.about, `Rank ${box.id}${where}: ${[doing(box), box.line, usage(box)].filter(Boolean).join(' · ')}`);
    }
    this.buttons.querySelectorAll<HTMLButtonElement>('button:not(.px-close)').forEach(each => {
      each.disabled = this.cluster === null;
    });
  }

  private aboutConsole(id: number): string {
    const state = this.node.classList.contains('px-ended') ? 'done' : this.boxes.get(id)?.box.state;
    const waits = `\nThe rank is busy: what you run in the console starts when the cell above ends.`;
    return `A console on rank ${id} is open.${state === 'busy' || state === 'waits' ? waits : ''}`;
  }

  private setShown(text: string): void {
    setText(this.text, text);
    this.text.hidden = !text;
  }

  private button(label: string, title: string, onClick: () => void): HTMLButtonElement {
    const made = element('button', 'jp-mod-styled', this.buttons) as HTMLButtonElement;
    made.type = 'button';
    made.textContent = label;
    made.title = title;
    made.addEventListener('click', onClick);
    return made;
  }

  /** ask  requests an action of the Jupyter server, because the kernel is busy with the cell */
  private addButton(label: string, title: string, ask: (key: string, id: number) => Promise<string>): void {
    this.button(label, title, () => {
      const id = this.selected;
      if (this.cluster === null || id === null) {
        return;
      }
      const asked = ++this.asked;
      this.isKept = label !== 'Console'; // which says that the rank is busy
      this.setShown('…');
      ask(this.cluster, id)
        .catch((problem: Error) => problem.message)
        .then(text => {
          if (asked === this.asked) {
            this.setShown(text.trimEnd() || 'nothing');
            this.text.scrollTop = label === 'Log' ? this.text.scrollHeight : 0;
          }
        });
    });
  }
}
