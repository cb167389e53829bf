import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { decommissionAnnotation, decommissionedAnnotation, operationAnnotation } from '@metal/api/wire/contract.ts';
import { evictionOf, rejectionReason } from './eligibility.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
type Taint = NonNullable<Server['spec']['taints']>[number];
type Tolerations = ServerClaim['spec']['tolerations'];

const evict: Taint = { key: 'broken-fan', value: 'yes', effect: 'Evict' };
const noBind: Taint = { key: 'burn-in', effect: 'NoBind' };

const serverWith = (taints: Taint[], burnIn?: 'True' | 'False'): Server => ({
  apiVersion,
  kind: 'Server',
  metadata: { name: 's' },
  spec: { systemUUID: 's', taints },
  status: {
    state: 'Available',
    powerState: 'Off',
    conditions:
      burnIn === undefined
        ? []
        : [{ type: 'BurnIn', status: burnIn, reason: 'Said', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }],
  },
});
const withAnnotations = (annotations: Record<string, string>): Server => {
  const server = serverWith([]);
  return { ...server, metadata: { ...server.metadata, annotations } };
};
const leaving = (operation: string): Server =>
  withAnnotations({ [decommissionAnnotation]: `${operation} 2026-01-01T00:00:00Z` });
const claimWith = (tolerations: Tolerations = []): ServerClaim => ({
  apiVersion,
  kind: 'ServerClaim',
  metadata: { name: 'c', namespace: 'team' },
  spec: { power: 'On', image: 'os', tolerations },
});
const ruleWith = (
  taint: Taint,
  spec: Partial<ServerReadinessRule['spec']> = {},
  metadata: Partial<ServerReadinessRule['metadata']> = {},
): ServerReadinessRule => ({
  apiVersion,
  kind: 'ServerReadinessRule',
  metadata: { name: 'burned-in', uid: 'rule-uid', ...metadata },
  spec: {
    conditions: [{ type: 'BurnIn', requiredStatus: 'True' }],
    enforcementMode: 'Continuous',
    taint,
    serverSelector: {},
    ...spec,
  },
});

const rejections: [
  what: string,
  server: Server,
  rule: ServerReadinessRule,
  tolerations: Tolerations,
  rejection?: string,
][] = [
  ['a failing rule whose taint is not written yet', serverWith([]), ruleWith(noBind), [], 'NotReady(burned-in)'],
  ['a failing rule with a taint that evicts', serverWith([]), ruleWith(evict), [], 'NotReady(burned-in)'],
  ['a failing rule and its taint', serverWith([noBind]), ruleWith(noBind), [], 'NotReady(burned-in)'],
  ['a failing rule whose taint is tolerated', serverWith([]), ruleWith(noBind), [{ key: 'burn-in' }]],
  ['a rule that holds', serverWith([], 'True'), ruleWith(noBind), []],
  ['a rule that holds, its taint still there', serverWith([noBind], 'True'), ruleWith(noBind), [], 'Tainted(burn-in)'],
  ['a condition of another status', serverWith([], 'False'), ruleWith(noBind), [], 'NotReady(burned-in)'],
  ['a rule about other servers', serverWith([]), ruleWith(noBind, { serverSelector: { matchLabels: { a: 'b' } } }), []],
  [
    'a rule that is being deleted',
    serverWith([]),
    ruleWith(noBind, {}, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    [],
  ],
  [
    'a rule with a faulty selector',
    serverWith([]),
    ruleWith(noBind, { serverSelector: { matchExpressions: [{ key: 'a', operator: 'Like' }] } }),
    [],
  ],
];
for (const [what, server, rule, tolerations, rejection] of rejections) {
  test(`${what}: the server is ${rejection === undefined ? 'eligible' : `rejected as ${rejection}`}`, () => {
    assert.equal(rejectionReason(server, claimWith(tolerations), [rule]), rejection);
  });
}

test('the first of several rules by name is reported', () => {
  const rules = [ruleWith(noBind, {}, { name: 'z' }), ruleWith(noBind, {}, { name: 'a' })];
  assert.equal(rejectionReason(serverWith([]), claimWith(), rules), 'NotReady(a)');
});

const leavers: [what: string, server: Server][] = [
  ['a request that is not accepted yet', withAnnotations({ [operationAnnotation]: 'decommission' })],
  ['a request by force that is not accepted yet', withAnnotations({ [operationAnnotation]: 'force-decommission' })],
  ['an accepted request', leaving('decommission')],
  ['a decommissioned server', withAnnotations({ [decommissionedAnnotation]: '2026-01-01T00:00:00Z' })],
];
for (const [what, server] of leavers) {
  test(`${what}: the server is rejected as Decommissioning`, () => {
    assert.equal(rejectionReason(server, claimWith(), []), 'Decommissioning');
  });
}

const evictions: [
  what: string,
  server: Server,
  rules: ServerReadinessRule[],
  tolerations: Tolerations,
  found: unknown,
][] = [
  ['no taint', serverWith([]), [], [], undefined],
  ['a taint that only keeps new claims away', serverWith([noBind]), [], [], undefined],
  ['a taint that evicts', serverWith([noBind, evict]), [], [], { cause: 'taint broken-fan is not tolerated' }],
  ['a tolerated taint', serverWith([evict]), [], [{ key: 'broken-fan', value: 'yes', effect: 'Evict' }], undefined],
  [
    'a taint tolerated whatever its value',
    serverWith([evict]),
    [],
    [{ key: 'broken-fan', operator: 'Exists' }],
    undefined,
  ],
  [
    'a taint of another value than tolerated',
    serverWith([evict]),
    [],
    [{ key: 'broken-fan', value: 'no' }],
    { cause: 'taint broken-fan is not tolerated' },
  ],
  [
    'a toleration of the other effect',
    serverWith([evict]),
    [],
    [{ key: 'broken-fan', operator: 'Exists', effect: 'NoBind' }],
    { cause: 'taint broken-fan is not tolerated' },
  ],
  [
    'a failing rule that evicts',
    serverWith([]),
    [ruleWith(evict)],
    [],
    { cause: 'taint broken-fan of rule burned-in is not tolerated' },
  ],
  [
    'a failing rule and its taint',
    serverWith([evict]),
    [ruleWith(evict)],
    [],
    { cause: 'taint broken-fan of rule burned-in is not tolerated' },
  ],
  [
    'a failing rule that is tolerated',
    serverWith([]),
    [ruleWith(evict)],
    [{ key: 'broken-fan', operator: 'Exists' }],
    undefined,
  ],
  ['a failing rule that only keeps new claims away', serverWith([]), [ruleWith(noBind)], [], undefined],
  ['a rule that holds', serverWith([], 'True'), [ruleWith(evict)], [], undefined],
  ['a decommission without force', leaving('decommission'), [], [], undefined],
  ['a decommission by force', leaving('force-decommission'), [], [], { cause: 'operation force-decommission' }],
];
for (const [what, server, rules, tolerations, found] of evictions) {
  test(`${what}: the claim ${found === undefined ? 'stays' : 'is evicted'}`, () => {
    assert.deepEqual(evictionOf(server, claimWith(tolerations), rules), found);
  });
}

type Condition = NonNullable<NonNullable<Server['status']>['conditions']>[number];
const reached: Condition = {
  type: 'BMCReachable',
  status: 'True',
  reason: 'Connected',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};
const toAdopt = (status: Server['status']): Server => ({
  ...withAnnotations({ [operationAnnotation]: 'adopt' }),
  status: { conditions: [reached], ...status },
});
const unknown = toAdopt({ state: 'Initial', powerState: 'On' });
const naming = { serverRef: { name: 's' }, image: '' };
const diskImage = { url: 'http://images.test/os', checksum: 'a', format: 'raw' } as const;

const adoptions: [what: string, server: Server, spec: Partial<ServerClaim['spec']>, rejection?: string][] = [
  ['a running server to a claim that names it', unknown, naming],
  ['a server that was never read', toAdopt({ state: 'Initial' }), naming, 'StateInitial'],
  [
    'a server whose BMC does not answer',
    toAdopt({ state: 'Initial', powerState: 'On', conditions: [{ ...reached, status: 'False' }] }),
    naming,
    'BMCNotReady',
  ],
  ['a server to a claim that names none', unknown, { image: '' }, 'AwaitsAdoption'],
  ['a server to a claim with an image', unknown, { ...naming, image: 'os' }, 'AdoptionBootsNothing'],
  ['a server to a claim with a disk image', unknown, { ...naming, diskImage }, 'AdoptionBootsNothing'],
  ['a server in discovery', toAdopt({ state: 'Discovery', powerState: 'On' }), naming, 'StateDiscovery'],
  ['an available server', toAdopt({ state: 'Available', powerState: 'Off', conditions: [] }), naming],
  ['an available server to another claim', toAdopt({ state: 'Available', powerState: 'Off' }), {}, 'AwaitsAdoption'],
  [
    'a running server without the operation',
    { ...serverWith([]), status: { state: 'Initial', powerState: 'On' } },
    naming,
    'StateInitial',
  ],
];
for (const [what, server, spec, rejection] of adoptions)
  test(`adoption of ${what}: ${rejection ?? 'possible'}`, () => {
    const claim = claimWith();
    assert.equal(rejectionReason(server, { ...claim, spec: { ...claim.spec, ...spec } }, []), rejection);
  });
