import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import type { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { type Taint, taintPlanOf } from './taint-plan.ts';

const apiVersion = 'metal.ironcore.dev/v1alpha1';
const note = 'readiness.metal.ironcore.dev/taints';
const bootstrap = 'readiness.metal.ironcore.dev/bootstrap-completed-r';
const burnIn: Taint = { key: 'burn-in', effect: 'NoBind' };
const foreign: Taint = { key: 'foreign', value: 'x', effect: 'NoBind' };
const noted = { [note]: JSON.stringify([burnIn]) };

interface Input {
  readonly taints?: Taint[];
  readonly annotations?: Record<string, string>;
  readonly labels?: Record<string, string>;
  readonly ready?: boolean;
}
const server = ({ taints, annotations = {}, labels = {}, ready = false }: Input): Server => ({
  apiVersion,
  kind: 'Server',
  metadata: { name: 's', annotations, labels },
  spec: { systemUUID: 's', ...(taints === undefined ? {} : { taints }) },
  status: {
    conditions: ready
      ? [{ type: 'BurnIn', status: 'True', reason: 'Done', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }]
      : [],
  },
});
const rule = (
  spec: Partial<ServerReadinessRule['spec']> = {},
  metadata: Partial<ServerReadinessRule['metadata']> = {},
): ServerReadinessRule => ({
  apiVersion,
  kind: 'ServerReadinessRule',
  metadata: { name: 'r', uid: 'r-uid', ...metadata },
  spec: {
    conditions: [{ type: 'BurnIn', requiredStatus: 'True' }],
    enforcementMode: 'Continuous',
    taint: burnIn,
    serverSelector: {},
    ...spec,
  },
});
const once = rule({ enforcementMode: 'BootstrapOnly' });
const leaving = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const others = rule({ serverSelector: { matchLabels: { rack: 'other' } } });
const second = rule({ conditions: [{ type: 'Firmware', requiredStatus: 'True' }] }, { name: 'second', uid: 'uid-2' });

interface Plan {
  readonly taints: readonly Taint[];
  readonly annotations: Readonly<Record<string, string | null>>;
}
const rows: [what: string, input: Input, rules: ServerReadinessRule[], plan: Plan | undefined][] = [
  ['a server without rules and taints needs no change', {}, [], undefined],
  ['a failing rule adds its taint', {}, [rule()], { taints: [burnIn], annotations: noted }],
  ['an existing taint of a failing rule stays', { taints: [burnIn], annotations: noted }, [rule()], undefined],
  [
    'a taint of v0.7.0 is recorded as that of the rule',
    { taints: [burnIn] },
    [rule()],
    { taints: [burnIn], annotations: noted },
  ],
  [
    'a satisfied rule removes its taint, and no other',
    { taints: [foreign, burnIn], annotations: noted, ready: true },
    [rule()],
    { taints: [foreign], annotations: { [note]: null } },
  ],
  [
    'a taint of v0.7.0 is removed when the rule is satisfied',
    { taints: [burnIn], ready: true },
    [rule()],
    { taints: [], annotations: {} },
  ],
  ['a taint of another owner stays', { taints: [foreign], ready: true }, [rule()], undefined],
  [
    'a server that left the selector loses the taint of the rule',
    { taints: [foreign, burnIn], annotations: noted },
    [others],
    { taints: [foreign], annotations: { [note]: null } },
  ],
  ['a taint that no rule added stays on a server outside the selector', { taints: [burnIn] }, [others], undefined],
  [
    'the taint of a rule that no longer exists is removed',
    { taints: [burnIn], annotations: noted },
    [],
    { taints: [], annotations: { [note]: null } },
  ],
  [
    'one failing rule of two with one taint keeps it',
    { taints: [burnIn], annotations: noted, ready: true },
    [rule(), second],
    undefined,
  ],
  [
    'one failing rule of two with one taint keeps it, in the other order',
    { taints: [burnIn], annotations: noted, ready: true },
    [second, rule()],
    undefined,
  ],
  [
    'a deleted rule leaves a taint that another failing rule requires',
    { taints: [burnIn], annotations: noted },
    [rule({}, leaving), second],
    undefined,
  ],
  [
    'a deleted rule removes its taint, also one of v0.7.0',
    { taints: [burnIn] },
    [rule({}, leaving)],
    { taints: [], annotations: {} },
  ],
  [
    'a satisfied BootstrapOnly rule is recorded with its UID, and its taint removed in the same write',
    { taints: [burnIn], annotations: noted, ready: true },
    [once],
    { taints: [], annotations: { [note]: null, [bootstrap]: 'r-uid' } },
  ],
  [
    'a BootstrapOnly rule that was satisfied once adds no taint again',
    { annotations: { [bootstrap]: 'r-uid' } },
    [once],
    undefined,
  ],
  [
    'a BootstrapOnly rule with the annotation of v0.7.0 adds no taint again',
    { annotations: { [bootstrap]: 'true' } },
    [once],
    undefined,
  ],
  [
    'a new BootstrapOnly rule of the same name starts again',
    { annotations: { [bootstrap]: 'uid-of-its-forerunner' } },
    [once],
    { taints: [burnIn], annotations: noted },
  ],
  [
    'a deleted BootstrapOnly rule loses its annotation',
    { annotations: { [bootstrap]: 'true' } },
    [rule({ enforcementMode: 'BootstrapOnly' }, leaving)],
    { taints: [], annotations: { [bootstrap]: null } },
  ],
  [
    'an annotation that cannot be parsed is written again',
    { taints: [burnIn], annotations: { [note]: '{' } },
    [rule()],
    { taints: [burnIn], annotations: noted },
  ],
  [
    'a rule with a faulty selector has no effect',
    {},
    [rule({ serverSelector: { matchExpressions: [{ key: 'a', operator: 'Like' }] } })],
    undefined,
  ],
];
for (const [what, input, rules, plan] of rows) {
  test(what, () => {
    const found = taintPlanOf(server(input), rules);
    assert.deepEqual(found && { taints: found.taints, annotations: found.annotations }, plan);
  });
}

test('a written plan needs no further change', () => {
  for (const [, input, rules] of rows) {
    const plan = taintPlanOf(server(input), rules);
    if (plan === undefined) continue;
    const annotations = Object.entries({ ...input.annotations, ...plan.annotations }).filter(
      (entry): entry is [string, string] => entry[1] !== null,
    );
    const written = server({ ...input, taints: [...plan.taints], annotations: Object.fromEntries(annotations) });
    assert.equal(taintPlanOf(written, rules), undefined);
  }
});

test('a plan describes added taints with their cause, and removed taints', () => {
  assert.deepEqual(taintPlanOf(server({}), [rule()])?.changes, [
    'taint burn-in:NoBind is put on: rule r wants BurnIn=True (not reported yet)',
  ]);
  assert.deepEqual(taintPlanOf(server({ taints: [burnIn], ready: true }), [rule()])?.changes, [
    'taint burn-in:NoBind is taken off: no rule wants it any more',
  ]);
});
