import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { AdmissionRule } from '../kinds/admission.ts';
import { ConfigMap } from '../kinds/builtin.ts';
import type { KubeClient } from './client.ts';
import { installAdmissionRules } from './install-kinds.ts';

test('after a failed write no other write is under way', async () => {
  const rule: AdmissionRule = { name: 'rule', kind: ConfigMap, operations: ['CREATE'], action: 'Deny', checks: [] };
  const refused = new Error('refused');
  const written: string[] = [];
  const apply = async ({ kind }: { kind: string }) => {
    if (kind === 'ValidatingAdmissionPolicy') throw refused;
    await setImmediate();
    written.push(kind);
  };
  const client = { apply } as unknown as KubeClient;
  await assert.rejects(installAdmissionRules(client, [rule]), refused);
  assert.deepEqual(written, ['ValidatingAdmissionPolicyBinding']);
});
