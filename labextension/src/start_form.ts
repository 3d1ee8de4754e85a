import { Widget } from '@lumino/widgets';
import { IStart } from './clusters';

const LAUNCHERS = ['local', 'mpi', 'ssh', 'slurm', 'pbs', 'sge', 'lsf', 'htcondor'];

/** Asks what to start: the body of a dialog. */
export class StartForm extends Widget {
  private readonly profile = select('profile');
  private readonly n = input('n', 'number');
  private readonly clusterId = input('cluster_id', 'text');
  private readonly engines = select('engines');

  constructor(profiles: string[]) {
    super();
    this.addClass('px-StartForm');
    this.profile.append(...profiles.map(name => new Option(name, name)));
    this.engines.append(new Option('default of the profile', ''));
    this.engines.append(...LAUNCHERS.map(name => new Option(name, name)));
    this.n.min = '0';
    this.n.placeholder = 'one for each core';
    this.clusterId.placeholder = 'needed only for a second cluster of a profile';
    this.add('Profile', this.profile);
    this.add('Number of engines', this.n);
    this.add('Engines are started', this.engines);
    this.add('Cluster id', this.clusterId);
  }

  /** Dialog gives this as the result. */
  getValue(): IStart {
    const n = this.n.valueAsNumber;
    return {
      profile: this.profile.value,
      n: Number.isNaN(n) ? null : n,
      cluster_id: this.clusterId.value.trim(),
      engines: this.engines.value || null
    };
  }

  private add(text: string, field: HTMLElement): void {
    const label = document.createElement('label');
    label.append(text, field);
    this.node.append(label);
  }
}

function input(name: string, type: string): HTMLInputElement {
  const node = document.createElement('input');
  node.type = type;
  node.name = name;
  node.className = 'jp-mod-styled';
  return node;
}

function select(name: string): HTMLSelectElement {
  const node = document.createElement('select');
  node.name = name;
  node.className = 'jp-mod-styled';
  return node;
}
