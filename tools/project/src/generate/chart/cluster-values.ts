import {
  type ChartValue,
  flag,
  listOf,
  object,
  oneOf,
  orNull,
  port,
  text,
  texts,
  url,
  value,
  withoutEffect,
} from './value.ts';

const image = {
  type: 'object',
  additionalProperties: false,
  properties: { repository: text, tag: orNull(text), pullPolicy: text },
};

/** What the chart installs in the cluster besides the workloads. */
export const clusterValues: readonly ChartValue[] = [
  value('serviceAccount.enable', true, flag, 'Create the account of the operator.'),
  value('serviceAccount.name', '', text, 'Existing account, with `enable: false`.'),
  value('serviceAccount.annotations', {}, texts, 'Annotations of the account.'),
  value('serviceAccount.labels', {}, texts, 'Labels of the account.'),
  value('rbac.namespaced', false, { const: false }, 'true is refused: Servers and BMCs belong to no namespace.'),
  value('rbac.helpers.enable', false, flag, 'Roles for people: admin, editor and viewer of each kind.'),
  value('crd.enable', true, flag, 'Install and upgrade the kinds.'),
  value('crd.keep', true, flag, 'Leave them when the release is uninstalled. false deletes all servers with it.'),
  value('admission.enabled', true, flag, 'Install the admission policies.'),
  value('admission.advice', 'Warn', oneOf('Warn', 'Deny'), 'What unlikely values lead to.'),
  value('metrics.enable', true, flag, 'Serve metrics.'),
  value('metrics.port', 8443, port, 'Port of the metrics.'),
  value('metrics.secure', true, flag, 'Over TLS, to authorised accounts.'),
  value('metrics.certSecret', '', text, 'Secret of type `kubernetes.io/tls` for metrics; empty: self-signed.'),
  value('prometheus.enable', false, flag, 'ServiceMonitor.'),
  value('prometheus.labels', {}, texts, 'Labels that Prometheus selects ServiceMonitor and PrometheusRule by.'),
  value('prometheus.interval', '1m', text, 'Interval of scrapes.'),
  value(
    'prometheus.serviceAccount',
    {},
    { type: 'object', additionalProperties: false, properties: { name: text, namespace: text } },
    'name and namespace of the account of Prometheus, which may then read metrics.',
  ),
  value('prometheus.rules.enable', false, flag, 'PrometheusRule with the alerts.'),
  value(
    'prometheus.rules.runbookBaseUrl',
    '',
    url,
    'Where the documentation is served: alerts link to `<url>/monitoring.html`.',
  ),
  value('prometheus.dashboard.enable', false, flag, 'ConfigMap with the Grafana dashboard.'),
  value('prometheus.dashboard.labels', { grafana_dashboard: '1' }, texts, 'Labels that Grafana finds it by.'),
  value(
    'certManager.enable',
    false,
    flag,
    'Certificates by cert-manager: of metrics, and of the registry if `registry.url` is https.',
  ),
  value('certManager.issuerRef', {}, object, 'Issuer; empty: a self-signed one of the chart.'),
  value(
    'networkPolicy.enabled',
    false,
    flag,
    'NetworkPolicy of the operator. Too narrow networks cut it off from BMCs.',
  ),
  value('networkPolicy.metricsFrom', [], listOf(object), 'Peers that may read metrics; empty: all.'),
  value(
    'networkPolicy.machineNetworks',
    [],
    listOf(text),
    'Networks of machines and of BMCs that send events; empty: all.',
  ),
  value('networkPolicy.bmcNetworks', [], listOf(text), 'Networks of BMCs; empty: all.'),
  value('networkPolicy.extraEgress', [], listOf(object), 'Further egress rules.'),
];

export const formerValues: readonly ChartValue[] = [
  withoutEffect('webhook.enable', flag, 'CRDs and admission policies validate.'),
  withoutEffect('webhook.port', port, 'The same.'),
  withoutEffect(
    'metaldata.image',
    image,
    'The image is that of the operator; `metadata.enabled`, `metadata.mode: daemonSet`.',
  ),
  withoutEffect('metaldata.additionalLabels', texts, 'The same.'),
  withoutEffect('image', text, '`discovery.probeImage`.'),
  withoutEffect('flags', text, 'The operator inserts the flags of the probe.'),
  withoutEffect('sshPublicKey', text, 'The operator makes a key pair for each discovery.'),
  withoutEffect('passwordHash', text, 'The operator makes a password for each discovery.'),
];
