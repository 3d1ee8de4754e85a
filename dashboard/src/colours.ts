import type {Kind} from './snapshot';

// The palette of Okabe and Ito, which people with any kind of colour vision tell apart; what it
// says is also said by a sign or in words.
export const palette =
    ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#b8a800', '#7f7f7f'];

export const colourOfKind: Record<Kind, string> = {
  idle: '#8fa3b8',
  busy: '#009e73',
  waits: '#e69f00',
  silent: '#d55e00',
  unknown: '#b5b5b5'
};

export const signOfKind: Record<Kind, string> = {
  idle: '\u00b7',
  busy: '\u25b6',
  waits: '\u2026',
  silent: '!',
  unknown: '?'
};

export const wordsOfKind: Record<Kind, string> = {
  idle: 'idle',
  busy: 'busy',
  waits: 'waits in MPI or torch',
  silent: 'silent',
  unknown: 'state not known'
};

export const colourOfFailure = '#d55e00';

const coloursOfLabels = palette.filter(colour => colour !== colourOfFailure);
const placeOfLabel = new Map<string, number>();

// A label keeps its colour while the page is open; the first seven have one each.
export function colourOfLabel(label: string): string {
  const place = placeOfLabel.get(label) ?? placeOfLabel.size;
  if (placeOfLabel.size < 1000) placeOfLabel.set(label, place);
  return coloursOfLabels[place % coloursOfLabels.length];
}

// A colour of the theme, for canvases.
export function themeColour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
