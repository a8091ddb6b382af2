import{a}from"./chunk-F6CAEWTA.js";import"./chunk-NIEPDRQF.js";import"./chunk-ZAZVO3AX.js";import"./chunk-5FM3JKFP.js";export{a as reader};
