import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filledIn, quoted } from './command-line.ts';

const values = {
  kubeconfig: '/tmp/bench/kube config',
  macPrefixes: '/tmp/bench/prefixes.yaml',
  registryPort: '20001',
  metricsPort: '20002',
  healthPort: '20003',
  eventPort: '20005',
  bootPort: '20004',
  bootImages: '/tmp/bench/images.json',
  ignitionTemplate: '/tmp/bench/ignition.yaml',
  imageOrigin: 'http://127.0.0.1:20006',
  servers: '200',
};

const rows: [string, string][] = [
  ['manager --port={registryPort} -m {macPrefixes}', 'manager --port=20001 -m /tmp/bench/prefixes.yaml'],
  ['manager --kubeconfig={kubeconfig}', "manager --kubeconfig='/tmp/bench/kube config'"],
  ['A=${HOME} manager', 'A=${HOME} manager'],
  ['manager --json={}', 'manager --json={}'],
];
for (const [template, expected] of rows)
  test(`"${template}" becomes a command line of the shell`, () => assert.equal(filledIn(template, values), expected));

test('an unknown word in braces is reported with the known words', () =>
  assert.throws(
    () => filledIn('manager {kubeConfig}', values),
    /found \{kubeConfig\}.*expected some of \{kubeconfig\}/,
  ));

test('a word with a quote is still one word', () => assert.equal(quoted("it's"), String.raw`'it'\''s'`));
