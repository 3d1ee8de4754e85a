import { ICell, INotebookPanel, IOutput, IOutputArea, IOutputPanel, IRenderer } from '@jupyterlab/notebook';
import { Panel } from '@lumino/widgets';

import { IPart, isGrid, joined, partsOf, ranksOf, ranksOfLabel } from './rank_parts';

const MOST_TABS = 16; // ranks with a tab each; more ranks are in a list

/** A text of one rank, which is shown instead of the text of all ranks. */
interface ICopy {
  readonly holder: Panel; // a panel: JupyterLab takes the last renderer of an output for its own
  readonly renderer: IRenderer;
  text: string;
}

/** What an output of a cell contains. */
interface IContent {
  readonly stream: string; // "stdout", "stderr"; "": a display, which is one part
  readonly text: string | undefined; // of a stream
  readonly parts: IPart[];
  readonly isGrid: boolean;
}

/**
 * The row of tabs above the outputs of a cell: all ranks, or one of them. Only the page changes, neither the outputs nor the notebook's
 * file. Pictures and widgets are hidden, and are the same ones when they are shown again.
 */
class CellTabs {
  private readonly row = document.createElement('div');
  private readonly contents = new WeakMap<IOutput, IContent>();
  private readonly copies = new Map<IOutputPanel, ICopy>();
  private ranks: number[] = []; // those that have a tab
  private chosen: number | null = null; // null: all
  private shown: number | null = null; // the chosen one, if it has output
  private isDue = false;

  constructor(private readonly cell: ICell, private readonly area: IOutputArea) {
    this.row.className = 'px-Tabs';
    this.row.setAttribute('role', 'group');
    this.row.setAttribute('aria-label', 'Ranks whose output is shown');
    area.outputLengthChanged.connect(this.onChange, this);
    this.onChange();
  }

  /** Looks before the page is drawn the next time. */
  private onChange(): void {
    if (!this.isDue) {
      this.isDue = true;
      requestAnimationFrame(() => {
        this.isDue = false;
        if (!this.area.isDisposed) {
          this.update();
        }
      });
    }
  }

  private update(): void {
    const contents: IContent[] = [];
    for (let i = 0; i < this.area.model.length; i++) {
      contents.push(this.contentOf(this.area.model.get(i)));
    }
    this.showTabs(differing(contents));
    const rank = this.ranks.includes(this.chosen as number) ? this.chosen : null;
    if (rank !== null || this.shown !== null) {
      this.shown = rank;
      this.showRank(contents, rank);
    }
  }

  /** rank  null: all */
  private showRank(contents: IContent[], rank: number | null): void {
    const most = this.area.maxNumberOutputs; // behind them, JupyterLab has a button that shows the rest
    if (rank !== null && contents.some((content, i) => i >= most && content.parts.some(part => part.ranks?.includes(rank)))) {
      this.area.maxNumberOutputs = Infinity;
    }
    this.area.widgets.slice(0, Math.min(contents.length, this.area.maxNumberOutputs)).forEach((panel, i) => {
      if (contents[i].stream) {
        this.showText(panel, contents[i], rank);
      } else {
        this.showDisplay(panel, contents[i], rank);
      }
    });
    for (const panel of this.copies.keys()) {
      if (panel.isDisposed) {
        this.copies.delete(panel);
      }
    }
  }

  /** Reads an output. JupyterLab replaces the object if a display is updated; only the text of a stream changes. */
  private contentOf(output: IOutput): IContent {
    let content = this.contents.get(output);
    const text = output.streamText?.text;
    if (content && content.text === text) {
      return content;
    }
    if (!content) {
      output.streamText?.changed.connect(this.onChange, this);
    }
    const saved = output.toJSON();
    const stream = saved.output_type === 'stream' ? saved.name ?? '' : '';
    const parts = stream ? partsOf(joined(saved.text), stream === 'stderr') : [{ ranks: ranksOf(saved), text: '' }];
    content = { stream, text, parts, isGrid: isGrid(saved) };
    this.contents.set(output, content);
    return content;
  }

  private showDisplay(panel: IOutputPanel, content: IContent, rank: number | null): void {
    panel.setHidden(!isOf(rank, content.parts[0].ranks));
    if (content.isGrid) {
      for (const tile of panel.node.querySelectorAll<HTMLElement>('.jp-RenderedHTML > div > div')) {
        tile.classList.toggle('px-hidden', !isOf(rank, ranksOfLabel(tile.firstElementChild?.textContent ?? '')));
        tile.classList.toggle('px-alone', rank !== null);
      }
    }
  }

  private showText(panel: IOutputPanel, content: IContent, rank: number | null): void {
    const mime = `application/vnd.jupyter.${content.stream}`;
    const shown = content.parts.filter(each => isOf(rank, each.ranks));
    const isWhole = shown.length === content.parts.length;
    panel.setHidden(shown.length === 0 && !isWhole);
    let copy = this.copies.get(panel);
    for (const each of panel.widgets ?? []) {
      if (each !== copy?.holder && 'renderModel' in each) {
        each.setHidden(!isWhole);
      }
    }
    if (isWhole) {
      copy?.holder.dispose();
      this.copies.delete(panel);
      return;
    }
    if (!copy) {
      const renderer = this.area.rendermime.createRenderer(mime);
      copy = { holder: new Panel(), renderer, text: '' };
      copy.holder.addClass('jp-OutputArea-output');
      copy.holder.addWidget(renderer);
      panel.addWidget(copy.holder);
      this.copies.set(panel, copy);
    }
    const text = shown.map(each => each.text).join('');
    if (text !== copy.text) {
      copy.text = text;
      void copy.renderer.renderModel(this.area.rendermime.createModel({ data: { [mime]: text }, trusted: true }));
    }
  }

  private showTabs(ranks: number[]): void {
    if (ranks.join() !== this.ranks.join()) {
      this.ranks = ranks;
      const tabs = ranks.length > MOST_TABS ? [this.list()] : ranks.map(rank => this.tab(String(rank), rank));
      this.row.replaceChildren('rank', this.tab('all', null), ...tabs);
    }
    const wrapper = this.cell.node.querySelector('.jp-Cell-outputWrapper');
    if (!ranks.length) {
      this.row.remove();
    } else if (wrapper && wrapper.previousSibling !== this.row) {
      wrapper.before(this.row);
    }
    const rank = ranks.includes(this.chosen as number) ? this.chosen : null;
    for (const each of this.row.querySelectorAll<HTMLElement>('button')) {
      each.setAttribute('aria-pressed', String(each.dataset.rank === String(rank ?? 'all')));
    }
    const list = this.row.querySelector('select');
    if (list) {
      list.value = String(rank ?? '');
    }
  }

  private choose(rank: number | null): void {
    this.chosen = rank;
    this.update();
  }

  private tab(label: string, rank: number | null): HTMLElement {
    const made = document.createElement('button');
    made.type = 'button';
    made.textContent = made.dataset.rank = label;
    made.title = rank === null ? 'show the output of all ranks' : `show only the output of rank ${rank}`;
    made.addEventListener('click', () => this.choose(rank));
    return made;
  }

  private list(): HTMLElement {
    const made = document.createElement('select');
    made.setAttribute('aria-label', 'Rank whose output is shown');
    made.dataset.lmSuppressShortcuts = 'true'; // digits and arrows choose a rank, and are no commands of the notebook
    made.append(new Option('one …', ''), ...this.ranks.map(rank => new Option(String(rank), String(rank))));
    made.addEventListener('change', () => this.choose(made.value === '' ? null : Number(made.value)));
    return made;
  }
}

function isOf(rank: number | null, ranks: readonly number[] | null): boolean {
  return rank === null || ranks === null || ranks.includes(rank);
}

/** The ranks that have output; none if all ranks have the same. */
function differing(contents: IContent[]): number[] {
  const ranks = new Set<number>();
  let least = Infinity; // of the numbers of ranks that have something in common
  for (const content of contents) {
    for (const part of content.parts) {
      part.ranks?.forEach(rank => ranks.add(rank));
      least = Math.min(least, content.isGrid ? 1 : part.ranks?.length ?? Infinity);
    }
  }
  return least < ranks.size ? [...ranks].sort((one, other) => one - other) : [];
}

/** Gives each code cell of a notebook its tabs. */
export class RankTabs {
  private readonly known = new WeakSet<ICell>();

  constructor(private readonly panel: INotebookPanel) {
    panel.content.modelContentChanged.connect(this.look, this);
    void panel.context.ready.then(() => this.look());
  }

  dispose(): void {} // the tabs end with their cells

  private look(): void {
    for (const cell of this.panel.content.widgets) {
      if (cell.outputArea && !this.known.has(cell)) {
        const area = cell.outputArea;
        this.known.add(cell);
        void cell.ready.then(() => new CellTabs(cell, area)); // a cell out of sight may not be in the page yet
      }
    }
  }
}
