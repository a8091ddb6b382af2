/** A style sheet as a text, which the bundler puts in. */
declare module "*.css" {
  const text: string;
  export default text;
}
