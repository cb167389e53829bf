import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { findRootCause } from '@metal/api/reasons/root-cause.ts';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { findBinaries } from '@metal/controlplane/binaries.ts';
import type { Condition, KubeObject } from '@metal/kube/kinds/kind.ts';
import type { Cache } from '@metal/kube/cache/store.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';

const startTestenv = testenvsOfFile();
const run = promisify(execFile);

type ObjectWithConditions = KubeObject & { status?: { conditions?: readonly Condition[] } };

test('kubectl get shows for every kind what an object waits for', async () => {
  await using testenv = await startTestenv({ flags: ['--components=controllers,registry'] });
  const [node] = await testenv.addNodes({ generic: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  const unknownBmc = { macAddress: 'f2:00:00:00:00:01', ip: '192.0.2.9' };
  await testenv.client.create(Endpoint, { metadata: { name: 'unknown' }, spec: unknownBmc });
  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  await claim.watched.hasReason('NoServerMatches');
  await testenv.server(node).hasReason('WaitingForBootConfiguration');
  await testenv.bootOf(node).hasReason('WaitingForBootService');
  await testenv.endpoint(node).hasReason('BMCCreated');

  const caches = new Map<string, Cache<KubeObject>>([
    ['Server', testenv.servers],
    ['ServerBootConfiguration', testenv.boots],
  ]);
  const { root } = findRootCause(
    { kind: 'Server', name: `${node.name}-system-0` },
    { get: (kind, ref) => caches.get(kind)?.get(ref) },
  );
  assert.deepEqual([root?.object.kind, root?.reason], ['ServerBootConfiguration', 'WaitingForBootService']);

  const show = async (...args: string[]) => tableOf(await kubectl(testenv.kubeconfigPath, ['get', ...args]));
  const endpoints = await show('endpoints.metal.ironcore.dev');
  const reasonOf = new Map(endpoints.map(({ NAME, READY, REASON }) => [NAME, `${READY} ${REASON}`]));
  assert.equal(reasonOf.get(node.name), 'True BMCCreated');
  assert.equal(reasonOf.get('unknown'), 'False UnknownMACPrefix');
  const [bmc] = await show('bmc');
  assert.deepEqual([bmc?.STATE, bmc?.REASON], ['Enabled', 'Connected']);
  const [server] = await show('server');
  assert.deepEqual([server?.STATE, server?.REASON], ['Discovery', 'WaitingForBootConfiguration']);
  const [waiting] = await show('serverclaim', '-n', 'default', '-o', 'wide');
  assert.deepEqual([waiting?.PHASE, waiting?.REASON], ['Unbound', 'NoServerMatches']);
  assert.match(waiting?.MESSAGE ?? '', /\bservers?\b/, 'with -o wide the whole message');
  const [boot] = await show('serverbootconfiguration', '-n', 'default');
  assert.deepEqual([boot?.STATE, boot?.REASON], ['Pending', 'WaitingForBootService']);
});

const mostColumns = 180;

test('kubectl get servers shows the claim within 180 columns, and a rejected boot configuration shows why', async () => {
  await using testenv = await startTestenv();
  const nodes = await testenv.addNodes({ dell: 2 });
  await testenv.plugIn(...nodes);
  for (const node of nodes) await testenv.server(node).hasReason('Available');
  const [served, failed] = nodes;
  assert.ok(served && failed);
  await testenv.claim({ image: 'registry.test/os:1', on: served, name: 'build-agent-17' });
  await testenv.server(served).hasReason('ClaimServed');
  await testenv.claim({ image: 'registry.test/unknown:1', on: failed });
  await testenv.server(failed).hasReason('BootConfigurationFailed');
  await testenv.boots.named('claim-2').hasReason('PreparationFailed');

  const servers = await kubectl(testenv.kubeconfigPath, ['get', 'servers']);
  assert.deepEqual(
    tableOf(servers).map(({ REASON, CLAIM }) => `${REASON} ${CLAIM}`),
    ['ClaimServed default/build-agent-17', 'BootConfigurationFailed default/claim-2'],
  );
  const widths = servers.split('\n').map((line) => line.trimEnd().length);
  assert.ok(Math.max(...widths) <= mostColumns, `${Math.max(...widths)} columns:\n${servers}`);
  const boots = await kubectl(testenv.kubeconfigPath, ['get', 'sbc', '-n', 'default', 'claim-2', '-o', 'wide']);
  const [boot] = tableOf(boots);
  assert.deepEqual([boot?.STATE, boot?.REASON], ['Error', 'PreparationFailed']);
  assert.match(boot?.MESSAGE ?? '', /^RegistryNotAllowed: image "registry\.test\/unknown:1"/);
});

async function kubectl(kubeconfigPath: string, args: readonly string[]): Promise<string> {
  const { kubectl: program } = await findBinaries();
  return (await run(program, [`--kubeconfig=${kubeconfigPath}`, ...args])).stdout;
}

/** A column extends from the start of its title to the start of the next one. */
function tableOf(text: string): Record<string, string>[] {
  const [titles = '', ...lines] = text.trimEnd().split('\n');
  const columns = [...titles.matchAll(/\S+(?: \S+)*/g)];
  return lines.map((line) =>
    Object.fromEntries(
      columns.map((column, index) => [column[0], line.slice(column.index, columns[index + 1]?.index).trim()]),
    ),
  );
}

test('every reason on the main path is documented in the chapter of its kind and has a message', async () => {
  await using testenv = await startTestenv({ flags: ['--server-resync-interval=10s'] });
  const seenReasons = new Map<string, string>();
  for (const cache of [testenv.endpoints, testenv.bmcs, testenv.servers, testenv.claims, testenv.boots]) {
    // All of these kinds have the fields that are read here.
    (cache as Cache<ObjectWithConditions>).onChange(({ after }) => {
      for (const { reason, message } of after?.status?.conditions ?? [])
        seenReasons.set(`${after?.kind ?? ''} ${reason}`, message);
    });
  }
  const [node] = await testenv.addNodes({ dell: 1 });
  const odd = await testenv.fleet.add({ vendor: 'hpe', password: 'another-one' });
  assert.ok(node);
  await testenv.plugIn(node, odd);
  await testenv.bmc(odd).hasReason('AuthenticationFailed');
  await testenv.secrets.setTexts(odd.name, { password: 'another-one' });
  await testenv.server(node).hasReason('Available');
  const claim = await testenv.claim({ image: 'registry.test/os:1', on: node });
  await claim.reaches('Bound');
  await testenv.server(node).hasReason('ClaimServed');
  const second = await testenv.claim({ image: 'registry.test/unknown:1' });
  await testenv.server(odd).hasReason('BootConfigurationFailed');
  await second.delete();
  await claim.delete();
  await claim.isGone();
  await testenv.server(node).hasReason('Available');

  const page = await readFile(new URL('../../docs/operate/reasons.md', import.meta.url), 'utf8');
  const errors = await readFile(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  // A kind has a chapter among the reasons that need a person, and one among the others.
  const chapters = new Map<string, string>();
  for (const text of page.split('\n### ')) {
    const title = text.slice(0, text.indexOf('\n'));
    chapters.set(title, (chapters.get(title) ?? '') + text);
  }
  assert.ok(chapters.has('Server'));
  const unexplained = [...seenReasons.keys()].filter((key) => {
    const [kind = '', reason = ''] = key.split(' ');
    // Kinds whose controllers have no catalogue yet have no chapter.
    const chapter = chapters.get(kind);
    return chapter !== undefined && !chapter.includes(`</a>\`${reason}\` `) && !errors.includes(`| \`${reason}\` |`);
  });
  assert.deepEqual(unexplained, []);
  assert.deepEqual(
    [...seenReasons].filter(([, message]) => message.trim() === '').map(([key]) => key),
    [],
    'every condition has a message',
  );
  assert.ok(seenReasons.size > 15, [...seenReasons.keys()].join(', '));
});
