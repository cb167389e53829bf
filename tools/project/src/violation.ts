/** A violation of a rule of the project. */
export interface Violation {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}
