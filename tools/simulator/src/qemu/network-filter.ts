import type { Monitor } from './monitor.ts';

const filter = 'drop-packets';
const nullDevice = 'null';

/** The link stays up, and every packet of the network card is dropped. */
export async function dropPackets(monitor: Monitor, netdev: string): Promise<void> {
  const properties = { 'qom-type': 'filter-redirector', id: filter, netdev, queue: 'all', outdev: nullDevice };
  await Promise.all([
    monitor.do('chardev-add', { id: nullDevice, backend: { type: 'null', data: {} } }),
    monitor.do('object-add', properties),
  ]);
}

export async function passPackets(monitor: Monitor): Promise<void> {
  await Promise.all([monitor.do('object-del', { id: filter }), monitor.do('chardev-remove', { id: nullDevice })]);
}
