import{a}from"./chunk-WQ6VZ7K4.js";import"./chunk-IB56H5HX.js";import"./chunk-K5PAOT7X.js";import"./chunk-ZFAUZDQF.js";export{a as reader};
