import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { SecureVersion } from 'node:tls';
import {
  caPem,
  certFingerprint,
  certPem,
  elsewherePem,
  keyPem,
  otherCaPem,
  otherCertPem,
} from '../test/certificates.ts';
import { DeskBmc, talkTo } from '../test/desk-bmc.ts';
import type { BmcTls } from './endpoint.ts';
import { RedfishError } from './errors.ts';
import { resetSystem } from './power.ts';
import { readSystem } from './systems.ts';
import { TlsContexts } from './tls-contexts.ts';

const system = '/redfish/v1/Systems/1';

/** Conversations that go on beside each other, so that all that can be shared is shared. */
async function openRack() {
  const stack = new AsyncDisposableStack();
  const tlsContexts = new TlsContexts();
  const [desk, otherDesk, elsewhere] = await Promise.all(
    [certPem, otherCertPem, elsewherePem].map(async (cert) =>
      stack.use(await DeskBmc.start({ tls: { key: keyPem, cert } })),
    ),
  );
  assert.ok(desk && otherDesk && elsewhere);
  const look = async (at: DeskBmc, tls: BmcTls): Promise<unknown> => {
    const bmc = stack.use(talkTo(at, { endpoint: { ...at.endpoint, tls }, tlsContexts }));
    return readSystem(bmc, system).then(
      () => 'trusted',
      (error: unknown) => (error instanceof RedfishError ? error.code : error),
    );
  };
  return { desk, otherDesk, elsewhere, look, tlsContexts, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('each BMC is judged by its own CA, whoever was trusted or refused beside it', async () => {
  await using rack = await openRack();
  const { desk, otherDesk, look } = rack;
  const judged = [
    await look(desk, { caPem }),
    await look(otherDesk, { caPem: otherCaPem }),
    await look(desk, { caPem: otherCaPem }),
    await look(otherDesk, { caPem }),
    await look(desk, {}),
    await look(otherDesk, { caPem: `${caPem}\n${otherCaPem}` }),
    await look(otherDesk, { caPem }),
  ];
  const refused = 'TlsUntrusted';
  assert.deepEqual(judged, ['trusted', 'trusted', refused, refused, refused, 'trusted', refused]);
  assert.equal(rack.tlsContexts.size, 4, 'one for each bundle, and one for none');
});

test('a name, a pinned certificate and verification that is off count for one BMC alone', async () => {
  await using rack = await openRack();
  const { desk, otherDesk, elsewhere, look } = rack;
  assert.equal(await look(elsewhere, { caPem, insecureSkipVerify: true }), 'trusted');
  assert.equal(await look(desk, { caPem }), 'trusted');
  assert.equal(await look(elsewhere, { caPem }), 'TlsUntrusted', 'issued for another name');
  assert.equal(await look(desk, { fingerprint: certFingerprint }), 'trusted');
  assert.equal(await look(otherDesk, { fingerprint: certFingerprint }), 'TlsUntrusted', 'another than the pinned one');
  assert.equal(await look(otherDesk, { insecureSkipVerify: true }), 'trusted');
  assert.equal(await look(desk, {}), 'TlsUntrusted', 'of no CA that Node knows');
  assert.equal(rack.tlsContexts.size, 2);
});

test('a CA that was changed is asked from then on, and the former one is forgotten with the last who trusted it', async () => {
  await using desk = await DeskBmc.start({ tls: { key: keyPem, cert: certPem } });
  const tlsContexts = new TlsContexts();
  const open = (ca: string) => talkTo(desk, { endpoint: { ...desk.endpoint, tls: { caPem: ca } }, tlsContexts });
  const former = [open(caPem), open(caPem)];
  for (const bmc of former) await readSystem(bmc, system);
  await using changed = open(otherCaPem);
  await assert.rejects(readSystem(changed, system), { code: 'TlsUntrusted' });
  const sizes: number[] = [];
  for (const bmc of former) {
    await bmc[Symbol.asyncDispose]();
    await bmc[Symbol.asyncDispose]();
    sizes.push(tlsContexts.size);
  }
  assert.deepEqual(sizes, [2, 1]);
  await assert.rejects(readSystem(changed, system), { code: 'TlsUntrusted' });
  await using back = open(caPem);
  assert.partialDeepStrictEqual(await readSystem(back, system), { powerState: 'Off' });
});

for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] satisfies SecureVersion[]) {
  test(`no ${maxVersion} session of one connection is offered on another, be it to the same BMC or to its neighbour`, async () => {
    // Each would take the tickets of the other, so a session that is offered is resumed.
    const ticketKeys = randomBytes(48);
    const start = (cert: string) => DeskBmc.start({ tls: { key: keyPem, cert, ticketKeys, maxVersion } });
    await using first = await start(certPem);
    await using second = await start(certPem);
    const tlsContexts = new TlsContexts();
    for (const desk of [first, second, first]) {
      await using bmc = talkTo(desk, { endpoint: { ...desk.endpoint, tls: { caPem } }, tlsContexts });
      // Two POSTs, and each has a connection of its own.
      await resetSystem(bmc, system, 'On');
    }
    assert.deepEqual([first.resumed, second.resumed], [0, 0]);
    assert.ok(first.connections >= 4 && second.connections >= 2, 'there was a session to resume');
  });
}
