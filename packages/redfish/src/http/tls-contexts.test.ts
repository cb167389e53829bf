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
} from '../../test/certificates.ts';
import { StubBmc, openStubClient } from '../../test/stub-bmc.ts';
import type { BmcTls } from '../endpoint.ts';
import { RedfishError } from '../errors.ts';
import { resetSystem } from '../resources/power.ts';
import { readSystem } from '../resources/systems.ts';
import { TlsContexts } from './tls-contexts.ts';

const system = '/redfish/v1/Systems/1';

/** Clients that are open at the same time, so that they share what can be shared. */
async function startStubs() {
  const stack = new AsyncDisposableStack();
  const tlsContexts = new TlsContexts();
  const [stub, otherStub, elsewhere] = await Promise.all(
    [certPem, otherCertPem, elsewherePem].map(async (cert) =>
      stack.use(await StubBmc.start({ tls: { key: keyPem, cert } })),
    ),
  );
  assert.ok(stub && otherStub && elsewhere);
  const readThrough = async (at: StubBmc, tls: BmcTls): Promise<unknown> => {
    const bmc = stack.use(openStubClient(at, { endpoint: { ...at.endpoint, tls }, tlsContexts }));
    return readSystem(bmc, system).then(
      () => 'trusted',
      (error: unknown) => (error instanceof RedfishError ? error.code : error),
    );
  };
  return { stub, otherStub, elsewhere, readThrough, tlsContexts, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('each BMC is verified with its own CA, independent of other BMCs', async () => {
  await using stubs = await startStubs();
  const { stub, otherStub, readThrough } = stubs;
  const outcomes = [
    await readThrough(stub, { caPem }),
    await readThrough(otherStub, { caPem: otherCaPem }),
    await readThrough(stub, { caPem: otherCaPem }),
    await readThrough(otherStub, { caPem }),
    await readThrough(stub, {}),
    await readThrough(otherStub, { caPem: `${caPem}\n${otherCaPem}` }),
    await readThrough(otherStub, { caPem }),
  ];
  const untrusted = 'TlsUntrusted';
  assert.deepEqual(outcomes, ['trusted', 'trusted', untrusted, untrusted, untrusted, 'trusted', untrusted]);
  assert.equal(stubs.tlsContexts.size, 4, 'one for each bundle, and one without a bundle');
});

test('a host name, a pinned certificate and disabled verification apply to one BMC only', async () => {
  await using stubs = await startStubs();
  const { stub, otherStub, elsewhere, readThrough } = stubs;
  assert.equal(await readThrough(elsewhere, { caPem, insecureSkipVerify: true }), 'trusted');
  assert.equal(await readThrough(stub, { caPem }), 'trusted');
  assert.equal(await readThrough(elsewhere, { caPem }), 'TlsUntrusted', 'issued for another name');
  assert.equal(await readThrough(stub, { fingerprint: certFingerprint }), 'trusted');
  assert.equal(
    await readThrough(otherStub, { fingerprint: certFingerprint }),
    'TlsUntrusted',
    'another than the pinned one',
  );
  assert.equal(await readThrough(otherStub, { insecureSkipVerify: true }), 'trusted');
  assert.equal(await readThrough(stub, {}), 'TlsUntrusted', 'issued by no CA of Node');
  assert.equal(stubs.tlsContexts.size, 2);
});

test('a changed CA applies to later connections, and the former context is released by its last user', async () => {
  await using stub = await StubBmc.start({ tls: { key: keyPem, cert: certPem } });
  const tlsContexts = new TlsContexts();
  const openClient = (ca: string) =>
    openStubClient(stub, { endpoint: { ...stub.endpoint, tls: { caPem: ca } }, tlsContexts });
  const former = [openClient(caPem), openClient(caPem)];
  for (const bmc of former) await readSystem(bmc, system);
  await using changed = openClient(otherCaPem);
  await assert.rejects(readSystem(changed, system), { code: 'TlsUntrusted' });
  const sizes: number[] = [];
  for (const bmc of former) {
    await bmc[Symbol.asyncDispose]();
    await bmc[Symbol.asyncDispose]();
    sizes.push(tlsContexts.size);
  }
  assert.deepEqual(sizes, [2, 1]);
  await assert.rejects(readSystem(changed, system), { code: 'TlsUntrusted' });
  await using back = openClient(caPem);
  assert.partialDeepStrictEqual(await readSystem(back, system), { powerState: 'Off' });
});

for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] satisfies SecureVersion[]) {
  test(`no ${maxVersion} session of a connection is resumed on another, to the same or another BMC`, async () => {
    // Each accepts the tickets of the other, so an offered session would be resumed.
    const ticketKeys = randomBytes(48);
    const start = (cert: string) => StubBmc.start({ tls: { key: keyPem, cert, ticketKeys, maxVersion } });
    await using first = await start(certPem);
    await using second = await start(certPem);
    const tlsContexts = new TlsContexts();
    for (const stub of [first, second, first]) {
      await using bmc = openStubClient(stub, { endpoint: { ...stub.endpoint, tls: { caPem } }, tlsContexts });
      // Two POSTs, each with a connection of its own.
      await resetSystem(bmc, system, 'On');
    }
    assert.deepEqual([first.resumed, second.resumed], [0, 0]);
    assert.ok(first.connections >= 4 && second.connections >= 2, 'there was a session to resume');
  });
}
