# For scripts that compare clients: the simulated gateway as a process of its own, in a scratch folder that goes with the
# script. Sets `scratch`, and `of_gateway`, the options by which `push-throughput` finds it.
scratch=$(mktemp -d)
gateway=
end() {
    [ -z "$gateway" ] || kill "$gateway" 2>/dev/null || true
    [ -z "$gateway" ] || wait "$gateway" 2>/dev/null || true
    rm -rf "$scratch"
}
trap end EXIT

# begin_gateway LANEKEEPER
begin_gateway() {
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$scratch/key.p8" 2>/dev/null
    "$1" gateway --production 0 --sandbox 0 --control 0 --requests 0 \
        --certificate-out "$scratch/certificate.pem" \
        --provider-key "$scratch/key.p8" --key-id KEY1234567 --team-id TEAM123456 >"$scratch/gateway" &
    gateway=$!
    # The last of the three lines that it says.
    for _ in $(seq 100); do
        if grep -q '^control' "$scratch/gateway" 2>/dev/null; then break; fi
        sleep 0.1
    done
    local port control
    port=$(sed -n 's|^production *https://127\.0\.0\.1:||p' "$scratch/gateway")
    [ -n "$port" ] || { printf 'the gateway did not start\n' >&2; exit 1; }
    # h2load does not wait for the first SETTINGS, and would have 99 of its first 100 requests refused.
    control=$(sed -n 's|^control *127\.0\.0\.1:||p' "$scratch/gateway")
    exec 3<>"/dev/tcp/127.0.0.1/$control"
    printf 'set production streams-before 1000\n' >&3
    read -r _ <&3
    exec 3>&-
    of_gateway=(--port "$port" --certificate "$scratch/certificate.pem"
        --provider-key "$scratch/key.p8" --key-id KEY1234567 --team-id TEAM123456)
}
