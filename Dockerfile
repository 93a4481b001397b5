# docker build -t anonsql .
# docker run --rm -v "$PWD:/work" anonsql -f sql/quickstart.sql
FROM rust:1.95-trixie AS build
WORKDIR /anonsql
COPY . .
RUN cargo build --profile dist --locked --features ballista,cluster,delta,ducklake --bin anonsql

FROM debian:trixie-slim
COPY --from=build /anonsql/target/dist/anonsql /usr/local/bin/anonsql
WORKDIR /work
USER 1000:1000
ENTRYPOINT ["anonsql"]
