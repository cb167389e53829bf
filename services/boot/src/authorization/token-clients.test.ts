import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '@metal/kube/test/fake-clock.ts';
import { type Stage, TokenClients } from './token-clients.ts';

const [machine, second, outsider] = ['192.0.2.1', '192.0.2.2', '192.0.2.66'];

/** One boot, of a server that is known by one address. */
function bootWith(clients: TokenClients, bootUid = 'boot') {
  const visit = (stage: Stage, address: string) => ({ bootUid, stage, address, isKnown: address === machine });
  return {
    loads: (stage: Stage, address: string) => clients.admit(visit(stage, address)),
    script: (address: string) => clients.holderBefore(visit('firmware', address)),
  };
}

test('a boot is bound to its first client, and another one is denied its files and its script', () => {
  const boot = bootWith(new TokenClients(fakeClock()));
  assert.equal(boot.script(outsider), undefined, 'a script request does not bind the boot');
  assert.equal(boot.loads('firmware', second), undefined);
  assert.equal(boot.loads('firmware', second), undefined, 'kernel, then initrd');
  assert.deepEqual([boot.loads('firmware', outsider), boot.script(outsider)], [second, second]);
});

test('the system may have another address than the firmware, and only one', () => {
  const boot = bootWith(new TokenClients(fakeClock()));
  boot.loads('firmware', machine);
  assert.equal(boot.loads('system', second), undefined);
  assert.equal(boot.loads('system', outsider), second);
});

test('a restart of the firmware releases the binding of the system', () => {
  const boot = bootWith(new TokenClients(fakeClock()));
  for (const system of [second, outsider]) {
    assert.equal(boot.loads('firmware', machine), undefined);
    assert.equal(boot.loads('system', system), undefined);
  }
});

test('an address of the inventory takes over the binding of another address', () => {
  const boot = bootWith(new TokenClients(fakeClock()));
  assert.equal(boot.loads('firmware', outsider), undefined);
  assert.equal(boot.loads('firmware', machine), undefined);
  assert.equal(boot.loads('firmware', outsider), machine);
});

test('a binding expires after ten minutes without a request, and is per boot', () => {
  const clock = fakeClock();
  const clients = new TokenClients(clock);
  const boot = bootWith(clients);
  boot.loads('firmware', second);
  assert.equal(bootWith(clients, 'other').loads('firmware', outsider), undefined);
  clock.advance(10 * 60_000);
  assert.equal(boot.loads('firmware', outsider), second);
  clock.advance(1);
  assert.equal(boot.loads('firmware', outsider), undefined);
});
