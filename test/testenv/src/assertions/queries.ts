import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import * as z from 'zod';

const root = new URL('../../../../', import.meta.url);

const dashboardFile = z.object({
  panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).optional() })),
});
const ruleFile = z.object({
  spec: z.object({
    groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
  }),
});

/** A query for Prometheus and its source. */
export interface Query {
  readonly of: string;
  readonly expression: string;
}

/** Every query of the Grafana dashboard, with a fixed duration instead of Grafana's variable. */
export async function dashboardQueries(): Promise<Query[]> {
  const text = await readFile(new URL('deploy/grafana/metal-operator.json', root), 'utf8');
  const { panels } = dashboardFile.parse(JSON.parse(text));
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ of: `panel ${title}`, expression: expr.replaceAll('$__rate_interval', '5m') })),
  );
}

/** Every query of the alert rules. */
export async function alertQueries(): Promise<Query[]> {
  const text = await readFile(new URL('deploy/prometheus/alerts.yaml', root), 'utf8');
  const { groups } = ruleFile.parse(parse(text)).spec;
  return groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ of: `alert ${alert}`, expression: expr })));
}

/**
 * Names of metrics in a query: those of this product, and identifiers with three parts, which no function or label here
 * has.
 */
export const metricsIn = ({ expression }: Query): string[] =>
  expression.replaceAll(/"[^"]*"/g, '').match(/\bmetal_\w+\b|\b[a-z]+(?:_[a-z]+){2,}\b|\bworkqueue_\w+\b/g) ?? [];
