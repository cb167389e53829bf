import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedReconcileScope, unsharedReconcileScope } from './reconcile-scope.ts';

test('a turn that asks for no signal makes none', ({ mock }) => {
  const { mock: made } = mock.method(AbortSignal, 'any');
  const scope = new SharedReconcileScope(new AbortController().signal, () => true);
  assert.equal(scope.isAborted(), false);
  assert.equal(made.callCount(), 0);
  assert.equal(scope.signal, scope.signal);
  assert.equal(made.callCount(), 1);
});

test('a signal is aborted when the turn is cut short, whether it was asked for before or after', () => {
  const scope = new SharedReconcileScope(new AbortController().signal, () => true);
  const { signal } = scope;
  assert.equal(signal.aborted, false);
  scope.abort();
  assert.match(String(signal.reason), /another replica takes over/);
  const late = new SharedReconcileScope(new AbortController().signal, () => true);
  late.abort();
  assert.ok(late.signal.aborted && late.isAborted());
});

test('a signal is aborted when everything ends, which is no reason to leave the object to others', () => {
  const parent = new AbortController();
  const scopes = [new SharedReconcileScope(parent.signal, () => true), unsharedReconcileScope(parent.signal)];
  const signals = scopes.map(({ signal }) => signal);
  parent.abort();
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, true],
  );
  assert.deepEqual(
    scopes.map((scope) => scope.isAborted()),
    [false, false],
  );
});

test('a turn is cut as soon as it may not act', () => {
  let isOwner = true;
  const parent = new AbortController().signal;
  const scopes = [new SharedReconcileScope(parent, () => isOwner), unsharedReconcileScope(parent, () => isOwner)];
  const areAborted = () => scopes.map((scope) => scope.isAborted());
  assert.deepEqual(areAborted(), [false, false]);
  isOwner = false;
  assert.deepEqual(areAborted(), [true, true]);
});
