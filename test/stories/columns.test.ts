import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Endpoint } from '@metal/api/v1alpha1/endpoint.ts';
import { findBinaries } from '@metal/controlplane/binaries.ts';
import { labsOfFile } from '@metal/lab/lab.ts';

const openLab = labsOfFile();
const run = promisify(execFile);

test('kubectl get shows for every kind what an object waits for', async () => {
  await using lab = await openLab({ flags: ['--components=controllers,registry'] });
  const [node] = await lab.rack({ generic: 1 });
  assert.ok(node);
  await lab.plugIn(node);
  const stranger = { macAddress: 'f2:00:00:00:00:01', ip: '192.0.2.9' };
  await lab.client.create(Endpoint, { metadata: { name: 'stranger' }, spec: stranger });
  const claim = await lab.claim({ image: 'registry.test/os:1' });
  await claim.subject.says('NoServerMatches');
  await lab.server(node).says('WaitingForBootConfiguration');
  await lab.bootOf(node).says('WaitingForBootService');
  await lab.endpoint(node).says('BMCCreated');

  const show = async (...words: string[]) => tableOf(await kubectl(lab.kubeconfigPath, ['get', ...words]));
  const endpoints = await show('endpoints.metal.ironcore.dev');
  const said = new Map(endpoints.map(({ NAME, READY, REASON }) => [NAME, `${READY} ${REASON}`]));
  assert.equal(said.get(node.name), 'True BMCCreated');
  assert.equal(said.get('stranger'), 'False UnknownMACPrefix');
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

async function kubectl(kubeconfigPath: string, words: readonly string[]): Promise<string> {
  const { kubectl: program } = await findBinaries();
  return (await run(program, [`--kubeconfig=${kubeconfigPath}`, ...words])).stdout;
}

/** A column reaches from the start of its title to the start of the next one. */
function tableOf(text: string): Record<string, string>[] {
  const [titles = '', ...lines] = text.trimEnd().split('\n');
  const columns = [...titles.matchAll(/\S+(?: \S+)*/g)];
  return lines.map((line) =>
    Object.fromEntries(
      columns.map((column, index) => [column[0], line.slice(column.index, columns[index + 1]?.index).trim()]),
    ),
  );
}
