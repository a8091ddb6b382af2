import{a}from"./chunk-JQFU63HB.js";import"./chunk-XFVR37HD.js";import"./chunk-I6T4AW5B.js";import"./chunk-YB7QEEDN.js";export{a as reader};
