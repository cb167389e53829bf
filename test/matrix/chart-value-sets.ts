/** Without these the operator cannot start. */
export const requiredValues = {
  discovery: { probeImage: 'registry.example/probe:1', osImage: 'probe-os' },
  registry: { url: 'http://192.0.2.1:10000' },
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Values over others, as Helm merges them. */
export function merged(base: object, more: object): Record<string, unknown> {
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(more))
    result[key] = isObject(value) && isObject(result[key]) ? merged(result[key], value) : value;
  return result;
}

/** With the required values. */
export const completed = (values: object): Record<string, unknown> => merged(requiredValues, values);

export const valueAt = (values: unknown, path: string): unknown =>
  path.split('.').reduce((node, key) => (isObject(node) ? node[key] : undefined), values);

const { discovery } = requiredValues;
const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
const service = {
  type: 'LoadBalancer',
  annotations: { 'load-balancer.example/pool': 'boot' },
  nodePort: 30_000,
  loadBalancerIP: '192.0.2.1',
};
const resources = { requests: { cpu: '200m', memory: '512Mi' }, limits: { memory: '1Gi' } };
const placement = {
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'control-plane', operator: 'Exists', effect: 'NoSchedule' }],
};
const prefix = {
  macPrefix: '3CECEF',
  manufacturer: 'Supermicro',
  protocol: 'Redfish',
  port: 443,
  type: 'bmc',
  tls: { insecureSkipVerify: true },
};

/**
 * Values of installations, each completed by the required ones. Every value of the chart is in one of them with another value than
 * its default.
 */
export const valueSets: Readonly<Record<string, object>> = {
  defaults: {},
  names: { nameOverride: 'metal', fullnameOverride: 'rack', managerNamespace: 'kube-public', mode: 'shards' },
  'one replica': { mode: 'single', manager: { replicas: 1 } },
  'a pod of its own kind': {
    manager: {
      replicas: 3,
      image: { repository: 'registry.example/m', tag: '1', digest, pullPolicy: 'Always' },
      args: ['--bmc-resync-interval=5m', '--zap-log-level=debug'],
      env: [
        { name: 'EVENT_ADDRESS', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
        { name: 'A', value: '1' },
      ],
      envOverrides: { A: '2' },
      healthPort: 9081,
      resources,
      podSecurityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      affinity: { nodeAffinity: {} },
      ...placement,
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' },
      ],
      priorityClassName: 'system-cluster-critical',
      strategy: { type: 'Recreate' },
      terminationGracePeriodSeconds: 60,
      imagePullSecrets: [{ name: 'pull' }],
      labels: { team: 'metal' },
      annotations: { note: 'of the Deployment' },
      pod: { labels: { team: 'metal' }, annotations: { note: 'of the pod' } },
      extraVolumes: [{ name: 'kernels', configMap: { name: 'kernels' } }],
      extraVolumeMounts: [{ name: 'kernels', mountPath: '/srv/boot' }],
      log: { format: 'console' },
    },
    events: { enabled: true, port: 11_001 },
    podDisruptionBudget: { maxUnavailable: 2 },
    serviceAccount: { annotations: { a: 'b' }, labels: { a: 'b' } },
  },
  'an existing account': {
    bmc: { tls: 'pin' },
    manager: { log: { level: 'error' } },
    podDisruptionBudget: { enabled: false },
    serviceAccount: { enable: false, name: 'existing' },
    rbac: { helpers: { enable: true } },
    crd: { keep: false },
    admission: { advice: 'Deny' },
  },
  fleet: {
    discovery: { ...discovery, macPrefixes: [prefix] },
    ignition: { override: true, template: 'variant: fcos\nversion: 1.3.0\n', readSecrets: 'cluster' },
    updates: { readSecrets: ['kube-public'] },
    bmc: { caSecret: 'bmc-ca', insecure: true },
    cleanup: { disks: 'Purge', bios: 'Reset', bootOrder: 'Reset' },
    dns: { template: 'kind: x', rules: [{ apiGroups: ['dns.example'], resources: ['records'], verbs: ['patch'] }] },
  },
  'services for machines': {
    discovery: { ...discovery, macPrefixesSecret: 'prefixes' },
    ignition: { readSecrets: ['kube-public', 'default'] },
    registry: { url: 'https://reports.example:30000', port: 30_000, auth: 'none', tls: { secret: 'tls' }, service },
    boot: {
      port: 18_082,
      url: 'http://192.0.2.2:18082',
      images: { 'probe-os': { kernel: 'https://images.example/vmlinuz', initrd: 'https://images.example/initrd' } },
      allowedRegistries: ['registry.example', 'ghcr.io'],
      credentialsSecret: 'docker',
      allowedImageOrigins: ['https://images.example'],
      refusedImageNetworks: ['10.96.0.0/12'],
      trustedProxies: ['192.0.2.3/32'],
      bindTokens: false,
      cache: { size: '5Gi', volumeSize: '6Gi', storageClass: 'fast' },
      service: { ...service, nodePort: 30_001 },
    },
    events: {
      enabled: true,
      url: 'http://192.0.2.4:10001',
      service: { ...service, type: 'NodePort', nodePort: 30_002 },
    },
    metadata: { enabled: true, auth: 'token', static: { region: 'north' }, userDataNamespaces: ['default'] },
  },
  'other components elsewhere': { registry: { enabled: false }, boot: { enabled: false }, crd: { enable: false } },
  'metadata beside the operator': {
    admission: { enabled: false },
    metadata: {
      enabled: true,
      mode: 'daemonSet',
      port: 11_002,
      readBootKey: true,
      healthPort: 9082,
      resources,
      ...placement,
      service: { ...service, nodePort: 30_003 },
    },
  },
  'metadata on the nodes': { metadata: { enabled: true, mode: 'daemonSet', hostNetwork: true } },
  DHCP: {
    discovery: { ...discovery, macPrefixes: [prefix] },
    dhcp: {
      enabled: true,
      replicas: 2,
      image: { repository: 'registry.example/d', tag: '1', digest },
      interfaces: ['eth1'],
      ranges: ['192.0.2.100-192.0.2.199/24@192.0.2.1'],
      dns: ['192.0.2.53'],
      leaseTime: '2h',
      macPrefixes: ['3cecef'],
      unknown: 'answer',
      endpointRange: ['198.51.100.0/24'],
      leases: { hostPath: '/var/lib/dhcp' },
      metricsPort: 19_443,
      healthPort: 19_081,
      resources,
      ...placement,
    },
  },
  'DHCP alone': {
    manager: { enabled: false },
    metrics: { secure: false },
    dhcp: { enabled: true, ranges: ['192.0.2.100-192.0.2.199/24'], leases: { claim: 'leases' } },
  },
  'hosts of Metal3': { metal3: { enabled: true } },
  'hosts on Ironic': {
    metal3: {
      enabled: true,
      crds: false,
      provisioner: 'ironic',
      ironic: { url: 'https://ironic.example:6385', authSecret: 'ironic-auth', caSecret: 'ironic-ca' },
    },
  },
  'no metrics': { metrics: { enable: false } },
  monitoring: {
    metrics: { port: 9443, certSecret: 'metrics' },
    prometheus: {
      enable: true,
      labels: { release: 'prometheus' },
      interval: '30s',
      serviceAccount: { name: 'prometheus', namespace: 'monitoring' },
      rules: { enable: true, runbookBaseUrl: 'https://docs.example/operate' },
      dashboard: { enable: true, labels: { dashboards: 'yes' } },
    },
  },
  certificates: {
    registry: { url: 'https://192.0.2.1:10000' },
    certManager: { enable: true },
    prometheus: { enable: true },
  },
  'certificates of an issuer': {
    registry: { url: 'https://reports.example:10000' },
    certManager: { enable: true, issuerRef: { kind: 'ClusterIssuer', name: 'site' } },
  },
  'network policy': {
    networkPolicy: {
      enabled: true,
      metricsFrom: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
      machineNetworks: ['192.0.2.0/24'],
      bmcNetworks: ['198.51.100.0/24'],
      extraEgress: [{ to: [{ ipBlock: { cidr: '203.0.113.0/24' } }] }],
    },
  },
};

/** values.yaml of the chart of v0.7.0 with what its users set, as `helm upgrade --reuse-values` brings it along. */
export const valuesOfV070 = {
  manager: {
    enabled: true,
    env: [{ name: 'ENABLE_WEBHOOKS', value: 'true' }],
    envOverrides: {},
    replicas: 1,
    image: { repository: 'registry.example/metal-operator', pullPolicy: 'IfNotPresent' },
    args: [
      '--leader-elect',
      '--probe-image=registry.example/probe:1',
      '--probe-os-image=registry.example/probe-os:1',
      '--registry-url=http://192.0.2.1:30000',
      '--mac-prefixes-file=/etc/macdb/macdb.yaml',
      '--insecure',
      '--registry-auth=none',
    ],
    podSecurityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    resources: { limits: { cpu: '500m', memory: '128Mi' }, requests: { cpu: '10m', memory: '64Mi' } },
    affinity: {},
    nodeSelector: {},
    tolerations: [],
    terminationGracePeriodSeconds: 10,
    extraVolumes: [{ name: 'macdb', secret: { secretName: 'macdb' } }],
    extraVolumeMounts: [{ name: 'macdb', mountPath: '/etc/macdb' }],
  },
  managerNamespace: 'default',
  rbac: { namespaced: false, helpers: { enable: false } },
  serviceAccount: { enable: true },
  crd: { enable: true, keep: true },
  metrics: { enable: true, port: 8443, secure: true },
  certManager: { enable: true },
  webhook: { enable: true, port: 9443 },
  prometheus: { enable: false },
  ignition: { override: false, readSecrets: 'cluster' },
  registry: { enabled: true, port: 30_000 },
  image: 'metalprobe:latest',
  flags: '',
  sshPublicKey: '',
  passwordHash: '',
  metaldata: { image: { repository: 'registry.example/metaldata', pullPolicy: 'IfNotPresent' }, additionalLabels: {} },
};
