import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ImportGraph } from '../import-graph.ts';
import { blockedClaimReasons, reasonCatalogue } from './reason-catalogue.ts';

const entry = { meaning: 'It is so.', remedy: 'Wait.', weight: 'waiting', actor: 'operator' } as const;
const urgent = { ...entry, weight: 'failed', actor: 'person', command: 'kubectl get servers' } as const;

test('the catalogue is JSON with one line for each reason', () => {
  const source = { name: 'x', kind: { kind: 'Server' }, reasons: { A: entry, B: urgent } };
  const catalogue = { Away: { retry: 'later', meaning: 'It is away.', remedy: 'Nothing.' } } as const;
  const { text } = reasonCatalogue([source], { Busy: entry }, [{ title: 'X', catalogue }]);
  assert.deepEqual(JSON.parse(text), {
    reasons: { x: { A: entry, B: urgent } },
    reasonKinds: { x: 'Server' },
    errorCodes: catalogue,
    rejectionReasons: { Busy: entry },
  });
  assert.equal(text.match(/^"(?:A|B|Busy|Away)": \{.*\},?$/gm)?.length, 4);
});

test('the list for services has the reasons of a claim that need a person', () => {
  assert.match(blockedClaimReasons({ A: entry, B: urgent }).text, /new Set\(\[\n {2}'B',\n\]\)/);
});

test('no service loads the catalogue', () => {
  const imports = new ImportGraph(fileURLToPath(new URL('../../../../', import.meta.url)));
  const catalogue = 'packages/api/src/reasons/catalogue.json';
  assert.ok(imports.reaches('packages/api/src/reasons/root-cause.ts', catalogue));
  assert.ok(!imports.reaches('services/metal-operator/src/main.ts', catalogue));
});
