import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { after, before, test } from 'node:test';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { type BootOptions, type RunningBoot, startBoot } from '@metal/boot/boot.ts';
import { eventAbout } from '@metal/testenv/cluster/event-about.ts';
import { Registry } from 'prom-client';
import {
  type BootingServer,
  directoryWith,
  namespace,
  openServiceFixture,
  type ServiceFixture,
} from '@metal/testenv/cluster/service-fixture.ts';

/** Clients that may load a boot, identified by the source address of the request. */

const [machine, system, outsider] = ['192.0.2.1', '192.0.2.2', '192.0.2.66'];
let fixture: ServiceFixture;
let files: Awaited<ReturnType<typeof directoryWith>>;
let boot: RunningBoot;

before(async () => {
  fixture = await openServiceFixture();
  files = await directoryWith({ vmlinuz: 'a kernel', initrd: 'an initrd' });
  boot = await startBoot(optionsFor({ trustedProxies: ['127.0.0.0/8'] }));
});
after(async () => {
  await boot[Symbol.asyncDispose]();
  await files[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

const optionsFor = (more: Partial<BootOptions> = {}): BootOptions =>
  fixture.bootOptions({ fileRoots: [tmpdir()], ...more });

async function prepared(name: string): Promise<BootingServer> {
  const server = await fixture.booting(name, {
    image: `file://${files.path}/`,
    ignition: '{"note":"SECRET"}',
    format: 'ignition',
  });
  await fixture.until(fixture.bootConfigurations, `${namespace}/${name}`, ({ status }) => status?.state === 'Ready');
  return server;
}

const requestAs = (path: string, client: string, { url } = boot): Promise<Response> =>
  fetch(`${url}${path}`, { headers: { 'x-forwarded-for': client } });

test('a boot loaded by one client is denied to others, with an event that names the denied client', async () => {
  const { uuid, token, boot: object } = await prepared('bound');
  const file = (name: string): string => `/boot/${token}/${name}`;
  assert.match(
    await (await requestAs(`/ipxe/${uuid}`, outsider)).text(),
    /kernel/,
    'fetching the script alone binds nothing',
  );
  for (const name of ['kernel', 'initrd']) assert.equal((await requestAs(file(name), machine)).status, 200);
  assert.equal(
    (await requestAs(file('ignition'), system)).status,
    200,
    'from another network card, or with another lease',
  );

  for (const name of ['kernel', 'initrd', 'ignition'])
    assert.equal((await requestAs(file(name), outsider)).status, 403, name);
  const script = await (await requestAs(`/ipxe/${uuid}`, outsider)).text();
  assert.match(script, /another client loads its boot/);
  assert.doesNotMatch(script, /\/boot\//);
  const { note } = await eventAbout(fixture.client, object, 'BootTokenUsedElsewhere');
  assert.equal(note, `${outsider} asked for what ${machine} loads, and was refused`);
});

test('a forwarded client address is accepted from a trusted proxy only', async () => {
  const { token } = await prepared('forged');
  await using direct = await startBoot(optionsFor());
  for (const client of [machine, outsider])
    assert.equal(
      (await requestAs(`/boot/${token}/kernel`, client, direct)).status,
      200,
      'both requests come from the same address',
    );
});

test('a boot is not bound to a client address where machine addresses change', async () => {
  const { token } = await prepared('unbound');
  await using open = await startBoot(optionsFor({ trustedProxies: ['127.0.0.0/8'], bindsTokens: false }));
  for (const client of [machine, outsider])
    assert.equal((await requestAs(`/boot/${token}/ignition`, client, open)).status, 200);
});

test('a machine with desired power Off is served nothing until it is observed to run, and each request is counted', async () => {
  const server = await prepared('off');
  const { name, uuid, token } = server;
  const metrics = new Registry();
  await using counting = await startBoot(optionsFor({ metrics }));
  const script = async () => (await fetch(`${counting.url}/ipxe/${uuid}`)).text();
  const ignition = async () => (await fetch(`${counting.url}/boot/${token}/ignition`)).status;
  await fixture.client.mergePatch(Server, { name }, { spec: { power: 'Off' } });
  await fixture.until(fixture.servers, name, ({ spec }) => spec.power === 'Off');
  for (const _request of [1, 2]) assert.match(await script(), /waits: the machine is off/);
  assert.equal(await ignition(), 403, 'nor is a token accepted that was issued before');
  const object = fixture.servers.get(name) ?? assert.fail();
  assert.match((await eventAbout(fixture.client, object, 'BootDataRefusedWhileOff')).note, /by 127\.0\.0\.1/);
  assert.match(await metrics.metrics(), /metal_boot_refused_total\{reason="BootDataRefusedWhileOff"\} 2/);

  // A person presses the power button.
  await fixture.setStatus(name, { powerState: 'On' });
  await fixture.until(fixture.servers, name, ({ status }) => status?.powerState === 'On');
  assert.match(await script(), /kernel/);
  assert.equal(await ignition(), 200);
});
