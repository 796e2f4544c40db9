import CardRules
import PushWire

/// Pushes on their way out: rendered, held until they may leave, handed to the pool.
extension Shard {
    /// Renders a push and hands it to the pool, or holds it until its batch has landed.
    func send(
        _ order: PushOrder, _ index: Int, _ lane: Lane, _ device: DeviceID, claim: StartClaim?, isHeld: Bool
    ) async -> ApnsID? {
        let id = ApnsID(randomHigh: environment.random.next(), randomLow: environment.random.next())
        let ticket = PushTicket(device: device, generation: lane.generation, number: order.number)
        let isClaim = claim != nil && order.event == .start
        if isClaim { permits -= 1 }  // spent until the answer comes
        inFlight[ticket] = InFlight(
            lane: index, event: order.event, gateway: order.address.gateway, priority: order.priority, id: id,
            isClaim: isClaim, isReissue: order.isReissue, tick: tick)
        tick?.sent()
        let app = await lane.app
        guard let request = renderers[app]?.request(for: order, snapshot: slate, id: id) else {
            // Nothing of its content is in the slate, or it cannot be made to fit (P8): never sent.
            inbox.take([PushAnswer(ticket: ticket, verdict: .notSent)])
            return nil
        }
        let push = OutgoingPush(
            request: request, ticket: ticket, sink: inbox, isConfirmed: order.isConfirmed,
            isReissue: order.isReissue)
        let passesMark = order.timestamp > timestampMark ?? 0
        if order.timestamp > askedMark - 30 { raiseMark(past: order.timestamp) }
        // L1: an end decided in an earlier turn, while another push was under way, waits for the record of that.
        let isEarly = order.event == .end && outbox.isUnwritten(index)
        if isHeld || passesMark || isEarly {
            outbox.gathering.pushes.append(
                Outbox.HeldPush(lane: index, order: order, push: push, claim: order.event == .start ? claim : nil))
        } else {
            release(push)
        }
        return id
    }

    func release(_ push: OutgoingPush) {
        environment.trace.record(.sent(push.request.event, push.request.address.gateway, push.request.priority))
        outgoing.append(push)
    }

    /// Hands the pushes gathered since the last time to the pool, in one batch.
    func sendOutgoing() {
        guard !outgoing.isEmpty else { return }
        if let cluster = environment.cluster, !cluster.mayAct {
            // Another node may act for these phones by now: the loss of the partitions is about to be told.
            let stale = outgoing
            outgoing = []
            for push in stale { settle(push.ticket, as: .notSent) }
            return
        }
        outgoing = environment.pusher.send(outgoing)  // G7: what was not taken goes with the next turn
    }

    /// P5: a mark a minute ahead, stored once for all lanes of the shard, so that updates need no commit.
    func raiseMark(past timestamp: Int64) {
        askedMark = timestamp + 60
        for (partition, tenure) in tenures where tenure.waiting == nil {
            outbox.gathering.marks[partition] = askedMark
        }
    }
}
