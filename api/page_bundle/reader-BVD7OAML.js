import{a}from"./chunk-6MPYSAKR.js";import"./chunk-W53T27RM.js";import"./chunk-4N44B3ZK.js";import"./chunk-Q2VFYR76.js";import"./chunk-HFYI6HCD.js";import"./chunk-ZY5G2RKZ.js";export{a as reader};
