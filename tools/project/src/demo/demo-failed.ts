/** A demo cannot start, or a step of its tour failed; the message has the step and the last state. */
export class DemoFailed extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
