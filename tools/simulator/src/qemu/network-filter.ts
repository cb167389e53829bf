import type { Monitor } from './monitor.ts';

const filter = 'silence';
const hole = 'nowhere';

/** The link stays up, and every packet of the network card is led to where nobody is. */
export async function silence(monitor: Monitor, netdev: string): Promise<void> {
  const properties = { 'qom-type': 'filter-redirector', id: filter, netdev, queue: 'all', outdev: hole };
  await Promise.all([
    monitor.do('chardev-add', { id: hole, backend: { type: 'null', data: {} } }),
    monitor.do('object-add', properties),
  ]);
}

export async function unsilence(monitor: Monitor): Promise<void> {
  await Promise.all([monitor.do('object-del', { id: filter }), monitor.do('chardev-remove', { id: hole })]);
}
