import type { Node } from '@metal/simulator/fleet.ts';
import type { Screen } from './screen.ts';

const mostLines = 16;

/** Shows the serial console of a machine below the table: `s` selects the next machine, and none after the last. */
export function openSerialView(screen: Screen, nodes: readonly Node[], onInterrupt: () => void): Disposable {
  const { stdin } = process;
  let shown = -1;
  screen.showBelow(() => {
    const node = nodes[shown];
    if (node === undefined) return ['', '  s: the serial line of a machine'];
    return [
      '',
      `  serial console of ${node.name} (s: next machine):`,
      ...node.serial.last(mostLines).map((line) => `  │ ${line}`),
    ];
  });
  const onKey = (key: Buffer): void => {
    // In raw mode, Ctrl-C is an ordinary key.
    if (key.includes(3)) onInterrupt();
    if (key.toString() === 's') shown = shown + 1 === nodes.length ? -1 : shown + 1;
  };
  stdin.setRawMode(true).resume().on('data', onKey);
  return {
    [Symbol.dispose]() {
      stdin.off('data', onKey).pause();
      stdin.setRawMode(false);
    },
  };
}
