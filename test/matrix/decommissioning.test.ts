import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { Server } from '@metal/api/v1alpha1/server.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { resetBmcAnnotation, waiveCleanupAnnotation } from '@metal/api/wire/contract.ts';
import { minutes } from '@metal/kube/runtime/durations.ts';
import { factoryAccount } from '@metal/simulator/access.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import type { Vendor } from '@metal/simulator/profiles.ts';
import { simulated } from '@metal/testenv/fleet/simulated.ts';
import { type Testenv, testenvsOfFile } from '@metal/testenv/testenv.ts';
import type { WatchedObject } from '@metal/testenv/cluster/watched-object.ts';
import { claimed, onlyRecord, purge, reportsOf } from '../fixtures/cleanup-fixture.ts';

const startTestenv = testenvsOfFile();
const run = promisify(execFile);
/** Often enough to notice requests within minutes. */
const polls = ['--server-resync-interval=10s', '--bmc-resync-interval=10s'];

async function freeServer(
  testenv: Testenv,
  vendor: Vendor = 'generic',
): Promise<{ node: Node; name: string; server: WatchedObject<Server> }> {
  const [node] = await testenv.addNodes({ [vendor]: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  const server = testenv.server(node);
  const { metadata } = await server.hasReason('Available');
  return { node, name: metadata.name, server };
}

const request = async (testenv: Testenv, server: WatchedObject<Server>, operation: string): Promise<Server> =>
  testenv.servers.requestOperation(await server.exists(), operation);

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

const requestsTo = ({ bmc }: Node): number => [...bmc.traffic.byRoute.values()].reduce((sum, count) => sum + count, 0);

/** Nothing is sent to its BMC for a long time. */
async function assertLeftAlone(testenv: Testenv, node: Node): Promise<void> {
  const before = requestsTo(node);
  await testenv.clock.sleep(minutes(3));
  assert.equal(requestsTo(node), before, 'nothing is sent to a decommissioned BMC');
}

test('a free server is decommissioned and brought back', async () => {
  await using testenv = await startTestenv({ flags: polls });
  const { node, server } = await freeServer(testenv);
  await request(testenv, server, 'decommission');
  const gone = await server.hasReason('Decommissioned');
  assert.equal(gone.status?.state, 'Decommissioned');
  assert.equal(node.power, 'Off');
  const { operation, requestedTime = '', completedTime = '', ...rest } = gone.status?.decommission ?? {};
  assert.deepEqual([operation, rest], ['decommission', { cleanup: 'None' }]);
  assert.ok(Date.parse(requestedTime) <= Date.parse(completedTime));
  await testenv.hasEvent(gone, 'Decommissioned');
  await testenv.bmc(node).hasReason('BMCDecommissioned');
  assert.equal(testenv.bmc(node).now?.status?.state, 'Decommissioned');
  await assertLeftAlone(testenv, node);

  const claim = await testenv.claim({ image: 'registry.test/os:1' });
  const waiting = await claim.hasReason('NoServerMatches');
  assert.match(waiting.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '', /1 Decommissioning/);
  await claim.delete();
  await claim.isGone();

  const boots = node.boots.length;
  await request(testenv, server, 'recommission');
  const back = await server.hasReason('Available');
  assert.equal(node.boots.length, boots + 1, 'it was discovered anew');
  assert.equal(back.status?.decommission, undefined);
  assert.equal(back.metadata.annotations?.['metal.ironcore.dev/decommissioned'], undefined);
});

test('the owner of a claim is asked; when the claim is gone, the disks are erased for the last time', async () => {
  await using testenv = await startTestenv({ flags: [purge] });
  const { node, claim, name, server } = await claimed(testenv);
  await request(testenv, server, 'decommission');
  await claim.hasReason('ServerDecommissioning');
  assert.match(claim.watched.condition('ServerLeaving')?.message ?? '', /delete this claim; there is no time limit$/);
  await testenv.clock.sleep(minutes(5));
  assert.equal(node.power, 'On', 'nothing is taken from the owner');
  await claim.delete();
  await claim.isGone();
  const gone = await server.hasReason('Decommissioned');
  assert.equal(simulated(node).installed, undefined);
  const record = await onlyRecord(testenv, name);
  assert.ok(record.status?.certificate);
  assert.equal(gone.status?.decommission?.cleanup, 'Cleaned');
  assert.equal(gone.status?.decommission?.erasureReport, record.metadata.name);
  assert.equal(gone.status?.cleanup?.neededSince, undefined);
});

test('with force a claim loses its server after the grace period', async () => {
  await using testenv = await startTestenv({ flags: [purge, '--eviction-grace-period=10m'] });
  const { node, claim, server } = await claimed(testenv);
  await request(testenv, server, 'force-decommission');
  await claim.hasReason('Evicting');
  const message = claim.watched.condition('ServerLeaving')?.message ?? '';
  const until = /taken away at (\S+)$/.exec(message)?.[1] ?? '';
  assert.ok(Math.abs(Date.parse(until) - testenv.clock.now() - minutes(10)) < minutes(1), message);
  assert.equal(node.power, 'On');
  const gone = await server.hasReason('Decommissioned');
  assert.ok(Date.parse(gone.status?.decommission?.completedTime ?? '') >= Date.parse(until));
  await claim.hasReason('ServerLost');
  assert.equal(simulated(node).installed, undefined);
});

test('a failed cleanup stops the decommission until it is waived', async () => {
  await using testenv = await startTestenv({ flags: [purge, '--cleanup-attempts=1'] });
  const { node, claim, name, server } = await claimed(testenv);
  simulated(node).eraserFault = 'fails';
  await request(testenv, server, 'decommission');
  await claim.delete();
  await claim.isGone();
  await server.hasReason('CleanupFailed');
  assert.equal(server.now?.status?.state, 'Error');
  const annotations = { [waiveCleanupAnnotation]: 'ops: the disk is shredded' };
  await testenv.servers.patch(name, { metadata: { annotations } });
  const gone = await server.hasReason('Decommissioned');
  const waiver = (await reportsOf(testenv, name)).find(({ spec }) => spec.state === 'Waived');
  assert.deepEqual(
    [gone.status?.decommission?.cleanup, gone.status?.decommission?.erasureReport],
    ['Waived', waiver?.metadata.name],
  );
});

test('the BMC is reset to factory settings, and no login is tried before its BMCSecret changes', async () => {
  await using testenv = await startTestenv({ flags: polls });
  const { node, name, server } = await freeServer(testenv);
  await testenv.servers.patch(name, { metadata: { annotations: { [resetBmcAnnotation]: 'true' } } });
  await request(testenv, server, 'decommission');
  const gone = await server.hasReason('Decommissioned');
  assert.equal(gone.status?.decommission?.bmcReset, 'Accepted');
  assert.deepEqual(node.bmc.resets, ['ResetAll']);
  await assertLeftAlone(testenv, node);
  assert.equal(node.bmc.access.failedLogins, 0);

  await request(testenv, server, 'recommission');
  await testenv.bmc(node).hasReason('CredentialsUnusable');
  await testenv.clock.sleep(minutes(3));
  assert.equal(node.bmc.access.failedLogins, 0);
  const { username, password } = factoryAccount;
  const secret = testenv.bmc(node).now?.spec?.bmcSecretRef.name ?? '';
  const data = { username: base64(username), password: base64(password) };
  await testenv.client.mergePatch(BMCSecret, { name: secret }, { data });
  await server.hasReason('Available');
  assert.equal(node.bmc.access.failedLogins, 0);
});

test('a BMC that offers no reset stops the decommission until a person takes the wish back', async () => {
  await using testenv = await startTestenv();
  const { node, name, server } = await freeServer(testenv, 'hpe');
  await testenv.servers.patch(name, { metadata: { annotations: { [resetBmcAnnotation]: 'true' } } });
  await request(testenv, server, 'decommission');
  await server.hasReason('BMCResetRefused');
  assert.equal(server.now?.status?.state, 'Decommissioning');
  assert.deepEqual(node.bmc.resets, []);
  await testenv.servers.patch(name, { metadata: { annotations: { [resetBmcAnnotation]: null } } });
  const gone = await server.hasReason('Decommissioned');
  assert.equal(gone.status?.decommission?.bmcReset, undefined);
});

test('a decommission is cancelled while a claim holds the server', async () => {
  await using testenv = await startTestenv();
  const { node, claim, server } = await claimed(testenv);
  await request(testenv, server, 'force-decommission');
  await claim.hasReason('Evicting');
  await request(testenv, server, 'recommission');
  await claim.hasReason('ServerKept');
  await testenv.clock.sleep(minutes(15));
  assert.equal(claim.phase, 'Bound');
  assert.equal(node.power, 'On');
});

test('the example of the documentation works unchanged', async () => {
  await using testenv = await startTestenv({ flags: ['--eviction-grace-period=1m'] });
  const { node, name } = await claimed(testenv);
  const page = await readFile(new URL('../../docs/operate/decommissioning.md', import.meta.url), 'utf8');
  const [, example = ''] = /```sh\n(.*?)```/s.exec(page) ?? [];
  const PATH = `${dirname(testenv.cluster.binaries.kubectl)}:${process.env.PATH}`;
  const cwd = await mkdtemp(join(tmpdir(), 'metal-decommission-'));
  // kubectl keeps its cache in HOME.
  const env = { PATH, NAME: name, KUBECONFIG: testenv.kubeconfigPath, HOME: cwd };
  const { stdout } = await run('sh', ['-euc', example], { env, cwd }).finally(() => rm(cwd, { recursive: true }));
  assert.match(stdout, /"bmcReset":"Accepted","cleanup":"Cleaned"/);
  assert.match(stdout, /^[\w-]+\.[\w-]+\.[\w-]+$/m, 'the certificate');
  assert.deepEqual(node.bmc.resets, ['ResetAll']);
  assert.equal(simulated(node).installed, undefined);
});
