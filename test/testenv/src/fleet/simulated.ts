import type { Node } from '@metal/simulator/fleet.ts';
import { SimulatedMachine } from '@metal/simulator/simulated-machine.ts';

/** The machine of a node with the members of simulated machines. @throws TypeError for a real one. */
export function simulated({ name, machine }: Pick<Node, 'name' | 'machine'>): SimulatedMachine {
  if (machine instanceof SimulatedMachine) return machine;
  throw new TypeError(`the machine of ${name} is not a simulated one`);
}
