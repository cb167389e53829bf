import type { GeneratedFile } from './generated-folder.ts';
import { type Chapter, type Panel, chapters } from './dashboard-panels.ts';
import { brokenChapters } from './dashboard-problems.ts';

const columns = 24;
const usually = { perLine: 3, height: 8 };

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
      list: [
        { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus', current: {} },
        labelVariable('cluster', 'Cluster'),
        labelVariable('job', 'Job'),
      ],
    },
    panels: panelsOf([...brokenChapters, ...chapters]),
  };
  return { name: 'metal-operator.json', text: `${JSON.stringify(model, undefined, 2)}\n` };
}

/** Chapters as rows, with their panels side by side. */
function panelsOf(all: readonly Chapter[]): object[] {
  const placed: object[] = [];
  let y = 0;
  for (const { title, panels, perLine = usually.perLine, height = usually.height } of all) {
    const row = { type: 'row', title, collapsed: false, gridPos: { x: 0, y, w: columns, h: 1 } };
    placed.push({ id: placed.length + 1, ...row });
    y += 1;
    const w = columns / perLine;
    for (const [index, panel] of panels.entries()) {
      const gridPos = { x: (index % perLine) * w, y: y + Math.floor(index / perLine) * height, w, h: height };
      placed.push({ id: placed.length + 1, ...modelOf(panel), gridPos });
    }
    y += Math.ceil(panels.length / perLine) * height;
  }
  return placed;
}

const datasource = { type: 'prometheus', uid: '${datasource}' };

/** Series without the label count as well: `.*` matches its absence. */
const labelVariable = (name: string, label: string): object => ({
  name,
  label,
  type: 'query',
  datasource,
  query: `label_values(metal_build_info, ${name})`,
  refresh: 2,
  multi: true,
  includeAll: true,
  allValue: '.*',
  current: { text: 'All', value: '$__all' },
});

const chosen = 'cluster=~"$cluster",job=~"$job"';

/** Restricts every metric of a query to the chosen clusters and jobs. Names with two parts are functions and labels. */
export const ofChosen = (expression: string): string =>
  expression.replaceAll(
    /\b(metal_\w+|workqueue_\w+|[a-z]+(?:_[a-z]+){2,})\b(\{)?/g,
    (_, name: string, selector?: string) => `${name}{${chosen}${selector === undefined ? '}' : ','}`,
  );

/** Stats and tables show the last value; a table has one line for each series. */
function modelOf({ title, description, type, unit = 'short', stacked = false, queries }: Panel): object {
  const custom = stacked ? { fillOpacity: 30, stacking: { mode: 'normal' } } : { fillOpacity: 5 };
  const graph = { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } };
  const isGraph = type === undefined;
  return {
    type: type ?? 'timeseries',
    title,
    description,
    datasource,
    fieldConfig: { defaults: { unit, min: 0, ...(isGraph ? { custom } : {}) }, overrides: [] },
    ...(isGraph ? { options: graph } : {}),
    ...(type === 'table' ? { transformations: [{ id: 'organize', options: { excludeByName: { Time: true } } }] } : {}),
    targets: Object.entries(queries).map(([legend, expression], index) => ({
      refId: String.fromCodePoint('A'.charCodeAt(0) + index),
      datasource,
      expr: ofChosen(expression),
      legendFormat: legend,
      ...(isGraph ? {} : { instant: true, range: false, format: type === 'table' ? 'table' : 'time_series' }),
    })),
  };
}
