import type { MachineFiles } from '../machine-files.ts';
import type { DiskFacts } from './disk-facts.ts';

/** Uses of the disk by the kernel, as clauses with its name. */
export async function usesOf(disk: DiskFacts, proc: MachineFiles): Promise<string[]> {
  const mounts = (await proc.text('self/mountinfo')).split('\n').map(mountIn);
  const swaps = (await proc.text('swaps')).split('\n').map((line) => line.split(/\s/)[0] ?? '');
  return [
    ...disk.holders.map((holder) => `${disk.name} is part of ${holder}`),
    ...[...disk.deviceNumbers].flatMap(([device, number]) => [
      ...mounts
        .filter((mount) => mount.source === `/dev/${device}` || (number !== '' && mount.deviceNumber === number))
        .map(({ directory }) => `${device} is mounted on ${directory}`),
      ...(swaps.includes(`/dev/${device}`) ? [`${device} is swap`] : []),
    ]),
  ];
}

/** proc_pid_mountinfo(5): ID, parent, device number, root, directory, options, any number of fields, "-", type, source. */
function mountIn(line: string): { deviceNumber: string; directory: string; source: string } {
  const [before = '', after = ''] = line.split(' - ');
  const [, , deviceNumber = '', , directory = ''] = before.split(' ');
  return { deviceNumber, directory, source: after.split(' ')[1] ?? '' };
}
