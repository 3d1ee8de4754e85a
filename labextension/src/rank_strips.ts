import { ICell, INotebookPanel } from '@jupyterlab/notebook';
import { IIopubMessage } from '@jupyterlab/services';

import { Clusters } from './clusters';
import { RankConsoles } from './rank_consoles';
import { IRanks, RankStrip } from './rank_strip';

const MIME = 'application/vnd.polyxeus.ranks+json';
const PATIENCE_MS = 15000; // a kernel that says nothing for so long has ended, or waits for input

interface IShown {
  strip: RankStrip;
  timer: number;
}

/** Shows below each cell that runs on engines what its ranks do, as long as the kernel says so. */
export class RankStrips {
  private readonly shown = new Map<string, IShown>(); // by the id of the display that the kernel updates
  private isDisposed = false;

  constructor(
    private readonly panel: INotebookPanel,
    private readonly clusters: Clusters,
    private readonly consoles: RankConsoles
  ) {
    panel.sessionContext.iopubMessage.connect(this.onMessage, this);
  }

  dispose(): void {
    this.isDisposed = true;
    for (const id of [...this.shown.keys()]) {
      this.remove(id);
    }
  }

  private onMessage(_sender: unknown, message: IIopubMessage): void {
    const id = message.content.transient?.display_id;
    const ranks = message.content.data?.[MIME] as IRanks | undefined;
    if (this.isDisposed || message.header.msg_type !== 'update_display_data' || !id || !ranks) {
      return;
    }
    if (ranks.ended) {
      this.remove(id);
      return;
    }
    const cell = this.panel.content.widgets.find(each => each.model.id === ranks.cell);
    if (cell) {
      this.show(id, cell, ranks);
    }
  }

  private show(id: string, cell: ICell, ranks: IRanks): void {
    let shown = this.shown.get(id);
    if (!shown) {
      const openConsole = (key: string, rank: number) => this.consoles.open(key, rank, this.panel);
      shown = { strip: new RankStrip(this.clusters, openConsole), timer: 0 };
      this.shown.set(id, shown);
    }
    if (shown.strip.node.parentElement !== cell.node) {
      cell.node.append(shown.strip.node); // the cell may be a new one, e.g. after it was moved
    }
    shown.strip.show(ranks);
    window.clearTimeout(shown.timer);
    shown.timer = window.setTimeout(() => this.remove(id), PATIENCE_MS);
  }

  private remove(id: string): void {
    const shown = this.shown.get(id);
    this.shown.delete(id);
    window.clearTimeout(shown?.timer);
    shown?.strip.end();
  }
}
