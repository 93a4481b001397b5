VERIFY $target QUASI IDENTIFIERS (age USING age, zip USING zip, sex USING sex) SATISFYING k_anonymity(5);
