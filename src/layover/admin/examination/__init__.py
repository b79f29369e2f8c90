"""What `layover doctor` looks at."""
