/** The words of the page by their keys, made from the English ones by `make page`. */
export interface Words {
  ask: string;
  title: string;
  field: string;
  send: string;
  stop: string;
  close: string;
  again: string;
  over: string;
  intro: string;
  searching: string;
  writing: string;
  lost: string;
  finished: string;
  stopped: string;
  answers: string;
  may_answer: string;
  nearest: string;
  quoted: (values: { count: number }) => string;
  named: (values: { count: string | number; of: string | number }) => string;
  none: string;
  own: string;
  differ: string;
  sources: string;
  from: string;
  best: string;
  mark: (values: { number: string | number; title: string | number }) => string;
  grades: {
    quoted: string;
    supported: string;
    checked: string;
    unverified: string;
    contradicted: string;
    unsupported: string;
  };
  failed: string;
  busy: string;
  away: string;
}
