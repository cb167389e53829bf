import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ModuleInfo, moduleInfo, moduleLists, requireModules, withDependencies } from './kernel-modules.ts';

const section = (...texts: string[]): string => `\x7fELF\0rubbish\0${texts.join('\0')}\0`;
const files: Record<string, string> = {
  'net/virtio_net.ko': section('depends=net_failover,virtio', 'alias=virtio:d00000001v*', 'license=GPL'),
  'net/net_failover.ko': section('depends=failover'),
  'net/failover.ko': section('depends='),
  'virtio/virtio.ko': section('depends='),
  'net/realtek-phy.ko': section('depends='),
  'net/r8169.ko': section('depends=', 'softdep=pre: realtek-phy', 'alias=pci:v000010ECd*', 'alias=pci:v00001186d*'),
};
const modules = new Map<string, ModuleInfo>(
  Object.entries(files).map(([path, text]) => {
    const info = moduleInfo(path, text);
    return [info.name, info];
  }),
);

test('a module follows its dependencies, including soft dependencies', () => {
  const names = withDependencies(['virtio_net', 'r8169'], (name) => modules.get(name)).map(({ name }) => name);
  assert.deepEqual(names, ['failover', 'net_failover', 'virtio', 'virtio_net', 'realtek_phy', 'r8169']);
});

test('the lists of modprobe name all dependencies of a module, the first one to load at the end', () => {
  const lists = moduleLists(withDependencies(['virtio_net', 'r8169'], (name) => modules.get(name)));
  assert.match(
    lists['modules.dep'] ?? '',
    /^net\/virtio_net.ko: virtio\/virtio.ko net\/net_failover.ko net\/failover.ko$/m,
  );
  assert.match(lists['modules.alias'] ?? '', /^alias pci:v00001186d\* r8169\nalias virtio:d00000001v\* virtio_net$/m);
});

test('an unknown driver fails the build', () => {
  const isKnown = (name: string) => modules.has(name);
  requireModules(['realtek-phy'], isKnown);
  assert.throws(() => requireModules(['r8169', 'r9999'], isKnown), { code: 'RecipeIncomplete', message: /r9999/ });
});
