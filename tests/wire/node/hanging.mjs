setInterval(() => {}, 1000); // never ends by itself
