internal import CardRules
internal import Lanes
internal import WebServer

/// What an app says of its device: handed to the device's lane, answered when it is durable.
extension APIHandler {
    func submit(_ request: ParkedRequest) {
        guard let device = request.match.values.device else { return }
        do throws(Problem) {
            let (event, app) = try event(of: request)
            supervisor.submit(
                DeviceCall(event, for: device, app: app) { reply in request.answer(to: reply) })
        } catch {
            request.answer(error)
        }
    }

    /// The call as an event of a lane.
    private func event(of request: ParkedRequest) throws(Problem) -> (LaneEvent, AppID?) {
        let call = request.match.route.call
        if call == .deleteDevice { return (.removed, nil) }
        let document = try request.document()
        do throws(FieldFault) {
            switch call {
            case .putDevice:
                let body = try DeviceBody(document, zones: zones)
                return (.registered(body.patch), try app(body.app))
            case .putSelection:
                return (try SelectionBody(document.root).event(at: clock.now), nil)
            case .putCard:
                return (try CardBody(document).event(request.match.values.key ?? .slate, at: clock.now), nil)
            default:
                return (try ReportBody(document).event(request.match.values.key ?? .slate), nil)
            }
        } catch {
            throw Problem(error)
        }
    }

    /// The only app served need not be named.
    private func app(_ named: AppID?) throws(FieldFault) -> AppID? {
        let served = configuration.apps.map(\.text).joined(separator: ", ")
        let place = JSONPointer(["app"])
        guard let named else {
            guard configuration.apps.count <= 1 else {
                throw FieldFault(.missing(expected: "one of \(served)"), at: place)
            }
            return nil
        }
        guard configuration.apps.contains(named) else {
            throw FieldFault(.wrongValue(expected: "an app served here: \(served)"), at: place)
        }
        return named
    }
}

extension ParkedRequest {
    /// The body as JSON.
    func document() throws(Problem) -> JSONDocument {
        do throws(JSONFault) {
            return try JSONDocument(body)
        } catch {
            throw Problem(error, in: body)
        }
    }

    /// What the lane says of a device's call.
    func answer(to reply: DeviceReply) {
        let needsToken = reply.needsToken
        switch reply.answer {
        case .done: self.answer(status: 204, needsToken: needsToken)
        case .unknownDevice where match.route.call == .deleteDevice: self.answer(status: 204)
        case .unknownDevice: self.answer(Problem(404, "there is no device \(match.values.device?.text ?? "")"))
        case .unknownCard:
            self.answer(
                Problem(404, "\(match.values.key?.text ?? "") is no session, and not slate"), needsToken: needsToken)
        case .staleSelection(let held):
            var problem = Problem(409, "a selection of a later time is held", field: "/syncedAt")
            problem.extra = [("heldSyncedAt", .integer(held.unixSeconds))]
            self.answer(problem, needsToken: needsToken)
        case .otherApp(let held):
            self.answer(
                Problem(
                    409,
                    "the device is one of the app \(held): DELETE it first; it is free once its cards have ended",
                    field: "/app"), needsToken: needsToken)
        case .unavailable: self.answer(.tryAgain("the store cannot write now"), needsToken: needsToken)
        case .overloaded: self.answer(.tryAgain("more calls wait than may"), needsToken: needsToken)
        }
    }
}
