import type { GeneratedFile } from './generated-folder.ts';
import { type Chapter, type Panel, chapters } from './dashboard-panels.ts';

const columns = 24;
const panelsPerLine = 3;
const height = 8;

/** The Grafana dashboard, for import or provisioning. */
export function dashboard(): GeneratedFile {
  const model = {
    uid: 'metal-operator',
    title: 'Metal operator',
    description: 'Servers, claims, BMCs and the operator itself.',
    tags: ['metal-operator'],
    schemaVersion: 41,
    editable: true,
    refresh: '1m',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [{ name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus', current: {} }],
    },
    panels: panelsOf(chapters),
  };
  return { name: 'metal-operator.json', text: `${JSON.stringify(model, undefined, 2)}\n` };
}

/** Chapters as rows, with their panels side by side. */
function panelsOf(all: readonly Chapter[]): object[] {
  const placed: object[] = [];
  let y = 0;
  for (const { title, panels } of all) {
    placed.push({
      id: placed.length + 1,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: columns, h: 1 },
    });
    y += 1;
    for (const [index, panel] of panels.entries()) {
      const w = columns / panelsPerLine;
      const gridPos = {
        x: (index % panelsPerLine) * w,
        y: y + Math.floor(index / panelsPerLine) * height,
        w,
        h: height,
      };
      placed.push({ id: placed.length + 1, ...modelOf(panel), gridPos });
    }
    y += Math.ceil(panels.length / panelsPerLine) * height;
  }
  return placed;
}

const datasource = { type: 'prometheus', uid: '${datasource}' };

function modelOf({ title, description, unit = 'short', stacked = false, queries }: Panel): object {
  const custom = stacked ? { fillOpacity: 30, stacking: { mode: 'normal' } } : { fillOpacity: 5 };
  return {
    type: 'timeseries',
    title,
    description,
    datasource,
    fieldConfig: { defaults: { unit, min: 0, custom }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: Object.entries(queries).map(([legend, expr], index) => ({
      refId: String.fromCodePoint('A'.charCodeAt(0) + index),
      datasource,
      expr,
      legendFormat: legend,
    })),
  };
}
