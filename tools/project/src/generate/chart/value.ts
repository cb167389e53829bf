/** A JSON schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** One value of the chart: values.yaml, values.schema.json and the README of the chart come from the tables of these. */
export interface ChartValue {
  /** Keys from the root, with dots between. */
  readonly path: string;
  readonly default: unknown;
  readonly schema: Schema;
  readonly help: string;
  /** A key of v0.7.0 that is accepted and has no effect: only the schema has it. */
  readonly isWithoutEffect?: boolean;
}

export const text: Schema = { type: 'string' };
export const flag: Schema = { type: 'boolean' };
export const port: Schema = { type: 'integer', minimum: 1, maximum: 65_535 };
export const count: Schema = { type: 'integer', minimum: 0 };
export const quantity: Schema = { type: 'string', pattern: '^[0-9.]+([KMGTPE]i?|[mk])?$' };
export const url: Schema = { type: 'string', pattern: '^(https?://\\S+)?$' };
/** As Kubernetes defines it; the API server validates it. */
export const object: Schema = { type: 'object' };
export const texts: Schema = { type: 'object', additionalProperties: text };
export const oneOf = (...values: readonly string[]): Schema => ({ enum: values });
export const listOf = (items: Schema): Schema => ({ type: 'array', items });
/** A value that a former chart had as null. */
export const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });

export const value = (path: string, fallback: unknown, schema: Schema, help: string): ChartValue => ({
  path,
  default: fallback,
  schema,
  help,
});

export const withoutEffect = (path: string, schema: Schema, help: string): ChartValue => ({
  path,
  default: undefined,
  schema,
  help,
  isWithoutEffect: true,
});

/** Values of a Service. */
export const serviceValues = (path: string, clients: string): ChartValue[] => [
  value(
    `${path}.type`,
    'ClusterIP',
    oneOf('ClusterIP', 'NodePort', 'LoadBalancer'),
    `How ${clients} reach the Service. NodePort and LoadBalancer keep their addresses (\`externalTrafficPolicy: Local\`).`,
  ),
  value(`${path}.annotations`, {}, texts, 'Annotations of the Service, for a load balancer.'),
  value(
    `${path}.nodePort`,
    0,
    { type: 'integer', minimum: 0, maximum: 65_535 },
    'Port on the nodes; 0: Kubernetes chooses.',
  ),
  value(`${path}.loadBalancerIP`, '', text, 'Address that the load balancer should have.'),
];

/** Where the pods of a component run, and with how much. */
export const placementValues = (path: string): ChartValue[] => [
  value(`${path}.nodeSelector`, {}, texts, 'Labels of the nodes that the pods may run on.'),
  value(`${path}.tolerations`, [], listOf(object), 'Taints that the pods tolerate.'),
];
